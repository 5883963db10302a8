// The one place that says which version of the command line this is: its own package.

import manifest from '../package.json' with { type: 'json' }

export const VERSION: string = manifest.version
