/** TLS settings. PEM text or bytes. */
export interface TlsMaterial {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The expected name in the server's certificate, if it differs from the URL. */
  readonly serverName?: string;
  /** Accepts any certificate. @default false */
  readonly insecureSkipVerify?: boolean;
}

/** Request headers that authenticate the client. */
export type CredentialHeaders = Readonly<Record<string, string | readonly string[]>>;

/** The client's credentials. Called before every request, so they must be cached. */
export interface Credentials {
  /** Headers such as `authorization`. */
  headers(): Promise<CredentialHeaders>;
  /**
   * Called when the server answered 401 to `refused`: drops them, unless they were replaced in the meantime. Returns
   * whether a new call to `headers` may give others.
   */
  invalidate(refused: CredentialHeaders): boolean;
}

/** The address of an API server, and how to authenticate. */
export interface ClusterConnection {
  /** For example `https://10.0.0.1:6443`; a path is kept, a trailing slash is not. */
  readonly serverUrl: string;
  /**
   * Read before every request, after `credentials`. A new object means that existing connections no longer have the
   * right identity or trust.
   */
  readonly tls: TlsMaterial;
  readonly credentials: Credentials;
  /** A proxy to the server: http, https or socks5. @default none */
  readonly proxyUrl?: string;
  /** The namespace of the kubeconfig's context. */
  readonly namespace?: string;
  /** Origin for messages: a file and its context, or `in-cluster`. */
  readonly source: string;
}
