// A test holds this to package.json.
export const VERSION = '0.2.0'
