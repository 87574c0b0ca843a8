import { randomBytes } from 'node:crypto';
import { accountOfUsername } from '@rollkeeper/apiserver';
import type { TokenUser } from '@rollkeeper/apiserver';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { untyped, ServiceAccount } from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient, HttpApiClient } from '@rollkeeper/client/api-client';
import type { ClusterAccess } from './cluster-access.js';

/** A user with the rights that roles and bindings grant. */
export interface TestUser {
  readonly name: string;
  /** In addition to `system:authenticated`. @default none */
  readonly groups?: readonly string[];
  /** @default none */
  readonly uid?: string;
}

/** The access of one user. */
export interface ClusterUser extends ClusterAccess {
  readonly name: string;
  /** `KUBECONFIG`, for `child_process` and the like. */
  readonly env: { readonly KUBECONFIG: string };
  /** The API with this user's rights. */
  readonly client: ApiClient;
}

interface ClusterUsersDependencies {
  readonly users: readonly TokenUser[];
  /** The administrator's client. */
  readonly client: ApiClient;
  /** Writes a kubeconfig that the cluster removes when it stops. */
  readonly accessWith: (name: string, token: string) => Promise<ClusterAccess>;
  readonly connect: (token: string) => HttpApiClient;
  /** Makes a user's `client` of a connection. @default the connection itself */
  readonly clientOf?: (client: ApiClient) => ApiClient;
}

/** @throws InvalidOptionError */
export function compileTestUsers(users: readonly (string | TestUser)[]): TokenUser[] {
  const compiled = users.map((user, index) => {
    const { groups, name, uid } = typeof user === 'string' ? { name: user } : user;
    if (typeof name !== 'string' || name === '')
      throw new InvalidOptionError(`users[${index}]`, 'is neither a name nor { name, groups }');
    return { username: name, uid, groups, token: randomBytes(32).toString('base64url') };
  });
  const names = compiled.map(({ username }) => username);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new InvalidOptionError('users', `contains ${twice} twice`);
  return compiled;
}

/** The users of a test cluster, and its service accounts. */
export class ClusterUsers {
  private readonly known = new Map<string, Promise<ClusterUser>>();
  private readonly clients: HttpApiClient[] = [];

  constructor(private readonly dependencies: ClusterUsersDependencies) {}

  /** @throws InvalidOptionError for an unknown name; the server's error for a service account's token */
  get(name: string): Promise<ClusterUser> {
    const found = this.known.get(name) ?? this.enter(name);
    this.known.set(name, found);
    // A missing service account may be created later.
    found.catch(() => this.known.delete(name));
    return found;
  }

  async close(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.close()));
  }

  private async enter(name: string): Promise<ClusterUser> {
    const { accessWith, clientOf = (client) => client, connect, users } = this.dependencies;
    const declared = users.find(({ username }) => username === name);
    const token = declared?.token ?? (await this.accountToken(name));
    const access = await accessWith(name, token);
    const client = connect(token);
    this.clients.push(client);
    return { ...access, name, env: { KUBECONFIG: access.kubeconfig.path }, client: clientOf(client) };
  }

  private async accountToken(name: string): Promise<string> {
    const account = accountOfUsername(name);
    if (!account) {
      const names = this.dependencies.users.map(({ username }) => username).join(', ') || 'no users';
      const problem = `has ${names}, and system:serviceaccount:NAMESPACE:NAME for existing service accounts`;
      throw new InvalidOptionError('users', `${problem}: not ${JSON.stringify(name)}`);
    }
    const request: TokenRequest = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: account,
      spec: { expirationSeconds: TOKEN_SECONDS },
    };
    const { status } = await this.dependencies.client.create<TokenRequest>(untyped(ServiceAccount), request, {
      subresource: 'token',
    });
    return status!.token;
  }
}

/** A manual clock may move by days: longer than any test needs. */
const TOKEN_SECONDS = 10 * 365 * 86_400;

interface TokenRequest extends KubernetesObject {
  readonly spec: { readonly expirationSeconds: number };
  readonly status?: { readonly token: string };
}
