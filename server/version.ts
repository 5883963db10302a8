// The one place that says which version this is: the server's own package.

import manifest from './package.json' with { type: 'json' }

export const VERSION: string = manifest.version
