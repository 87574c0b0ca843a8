/** The release, as in package.json. */
export const VERSION = '0.2.2';
