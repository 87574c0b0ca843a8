import { accountOfUsername } from '../access/auth/index.js';
import type { UserInfo } from '../access/auth/index.js';

/**
 * The flow of a user: users of one flow share one share of the places. A user who may write service accounts in a namespace can
 * create any number of them, so all service accounts of a namespace count as one user.
 */
export function flowOf({ username }: Pick<UserInfo, 'username'>): string {
  const account = accountOfUsername(username);
  return account ? `service accounts of ${account.namespace}` : username;
}
