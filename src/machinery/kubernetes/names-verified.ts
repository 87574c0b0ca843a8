/**
 * The `compiler` in `/version` of an API server that vouches for names of people in annotations (docs/SECURITY.md).
 * Genuine servers have that of Go there, `gc`.
 */
export const NAMES_VERIFIED = 'rollkeeper';

/**
 * Whether the names of people in annotations can be believed. `verified`: the API server adds the authenticated user to each, and lets
 * no other user than a controller write them down (that of `rollkeeper up`). `claimed`: anyone who may write the object can write any name.
 */
export type NameTrust = 'verified' | 'claimed';
