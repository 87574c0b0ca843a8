import type { UserInfo } from './user-info.js';

const NODES = 'system:nodes';
const PREFIX = 'system:node:';

/**
 * The name of the node whose kubelet a user is; empty if it is not known which, undefined for any other user. Source:
 * pkg/auth/nodeidentifier.
 */
export function nodeOfUser({ groups, username }: UserInfo): string | undefined {
  if (!username.startsWith(PREFIX) || !groups.includes(NODES)) return undefined;
  return username.slice(PREFIX.length);
}
