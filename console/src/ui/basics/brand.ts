// Whose console this is, as the settings say: name, logo and colour. Read once, before the first page is drawn.

import type { Session } from '../../api/types.ts'

const OWN = { name: 'Paybell', logo: '/console/bell.svg' }

export const brand = { ...OWN }

export function applyTheme(theme: Session['theme']): void {
  brand.name = theme?.name ?? OWN.name
  brand.logo = theme?.logo ?? OWN.logo
  const accent = theme?.accent
  if (!accent) return
  const mix = (share: number, other: string) => `color-mix(in srgb, ${accent} ${share}%, ${other})`
  const { style } = document.documentElement
  style.setProperty('--accent', `light-dark(${accent}, ${mix(40, 'white')})`)
  style.setProperty('--accent-hover', `light-dark(${mix(80, 'black')}, ${mix(30, 'white')})`)
  style.setProperty('--accent-bg', `light-dark(${mix(8, 'white')}, ${mix(25, '#10161c')})`)
}
