// A test holds this to package.json.
export const VERSION = '0.1.0'
