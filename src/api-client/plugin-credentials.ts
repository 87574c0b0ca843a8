import { ExecAuth } from '@kubernetes/client-node/dist/exec_auth.js';
import type { User } from '@kubernetes/client-node/dist/config_types.js';
import type { RequestOptions } from 'node:https';
import { stringifyJson } from '../kubernetes/index.js';
import { errorMessage } from '../errors/index.js';
import type { Credentials, TlsMaterial } from './cluster-connection.js';

type Headers = Readonly<Record<string, string>>;

interface Authenticator {
  applyAuthentication(user: User, options: RequestOptions): Promise<void>;
}

/** `user.exec` of a kubeconfig, as far as it is looked at here; the rest is the plugin's. */
export interface ExecConfig {
  readonly apiVersion?: string;
  readonly command: string;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly [field: string]: unknown;
}

/**
 * Credentials from a client-go credential plugin (`user.exec`). client-node runs the command and keeps the answer
 * until it expires; it does not tell the plugin which protocol is spoken (KUBERNETES_EXEC_INFO), so that is added.
 */
export class ExecCredentials implements Credentials {
  private readonly user: User;
  private auth: Authenticator = new ExecAuth();

  constructor(
    private readonly userName: string,
    exec: ExecConfig,
  ) {
    const info = { apiVersion: exec.apiVersion, kind: 'ExecCredential', spec: { interactive: false } };
    const env = [...(exec.env ?? []), { name: 'KUBERNETES_EXEC_INFO', value: stringifyJson(info) }];
    this.user = { name: userName, exec: { ...exec, env } };
  }

  async headers(): Promise<Headers> {
    return toHeaders(await this.authenticate());
  }

  /** The client certificate, where the plugin hands out one. Asked once: TLS does not follow its rotation. */
  async clientCertificate(): Promise<Pick<TlsMaterial, 'cert' | 'key'>> {
    const options = await this.authenticate();
    return { cert: options.cert as string | undefined, key: options.key as string | undefined };
  }

  invalidate(): boolean {
    this.auth = new ExecAuth();
    return true;
  }

  private async authenticate(): Promise<RequestOptions> {
    const options: RequestOptions = { headers: {} };
    try {
      await this.auth.applyAuthentication(this.user, options);
      return options;
    } catch (error) {
      throw new Error(`users "${this.userName}": exec: ${errorMessage(error)}`, { cause: error });
    }
  }
}

/**
 * Credentials of the `oidc` auth-provider. Its module pulls in all of client-node's models (some 80 MB), so it is
 * loaded only for who needs it.
 */
export class OidcCredentials implements Credentials {
  private auth?: Promise<Authenticator>;

  constructor(
    private readonly userName: string,
    private readonly authProvider: unknown,
  ) {}

  async headers(): Promise<Headers> {
    const options: RequestOptions = { headers: {} };
    try {
      const auth = await (this.auth ??= loadOidc());
      await auth.applyAuthentication({ name: this.userName, authProvider: this.authProvider }, options);
    } catch (error) {
      throw new Error(`users "${this.userName}": auth-provider oidc: ${errorMessage(error)}`, {
        cause: error,
      });
    }
    return toHeaders(options);
  }

  /** The token is renewed by its expiry; a refusal before that is not ours to heal. */
  invalidate(): boolean {
    return false;
  }
}

async function loadOidc(): Promise<Authenticator> {
  const { OpenIDConnectAuth } = await import('@kubernetes/client-node/dist/oidc_auth.js');
  return new OpenIDConnectAuth();
}

function toHeaders(options: RequestOptions): Headers {
  const authorization = (options.headers as Record<string, unknown>)['Authorization'];
  return typeof authorization === 'string' ? { authorization } : {};
}
