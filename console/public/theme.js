// Before the first paint: the theme that this viewer chose, so that nothing flashes.
try {
  const theme = localStorage.getItem('paybell-theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Without storage the system's preference holds.
}
