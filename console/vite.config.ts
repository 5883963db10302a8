// The console is built into console/dist and served by the service itself, under /console.

import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Afterwards, not before: a running service goes on serving the console while it is rebuilt. */
function removeOldAssets(): Plugin {
  return {
    name: 'remove-old-assets',
    writeBundle({ dir = 'dist' }, bundle) {
      const made = new Set(Object.keys(bundle))
      for (const name of readdirSync(join(dir, 'assets'))) {
        if (!made.has(`assets/${name}`)) rmSync(join(dir, 'assets', name), { force: true })
      }
    },
  }
}

const NUMBERS_OF_UPLOT = "new Intl.NumberFormat(domEnv ? nav.language : 'en-US')"

/**
 * While it is loaded, uPlot makes a NumberFormat of `navigator.language`, which may be a text that Intl
 * refuses: `en-US@posix` in Chromium under LANG=C.UTF-8. The browser's own default is always good.
 */
function takeDefaultLocale(): Plugin {
  return {
    name: 'take-default-locale',
    transform(code, id) {
      if (!id.includes('/uplot/') || !/\.m?js(\?|$)/.test(id)) return null
      if (!code.includes(NUMBERS_OF_UPLOT))
        throw new Error('uPlot makes its numbers in another way')
      return { code: code.replace(NUMBERS_OF_UPLOT, 'new Intl.NumberFormat()'), map: null }
    },
  }
}

export default defineConfig({
  base: '/console/',
  plugins: [react(), takeDefaultLocale(), removeOldAssets()],
  // Bundled ahead for `npm run dev`, it would not pass the plugin above.
  optimizeDeps: { exclude: ['uplot'] },
  build: {
    outDir: 'dist',
    emptyOutDir: false,
    // `light-dark()`, `<dialog>` and nesting are used as they are written.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // The policy lets in what comes from the service, and no data: script or style.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // `npm run dev --workspace console` beside a sandbox on port 8080.
  server: {
    proxy: Object.fromEntries(
      ['/operator', '/v1', '/api', '/auth', '/sandbox', '/problems', '/console/session'].map(
        (path) => [path, 'http://127.0.0.1:8080'],
      ),
    ),
  },
})
