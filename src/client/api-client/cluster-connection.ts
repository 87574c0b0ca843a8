/** What TLS needs to know. PEM text or bytes. */
export interface TlsMaterial {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The name expected in the server's certificate, if not the one in its URL. */
  readonly serverName?: string;
  /** Trusts any certificate. @default false */
  readonly insecureSkipVerify?: boolean;
}

/** What requests say about who sends them. */
export type CredentialHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Who we are. Asked before every request, so it answers from memory unless something expired. */
export interface Credentials {
  /** Headers such as `authorization`. */
  headers(): Promise<CredentialHeaders>;
  /**
   * The server answered 401 to `refused`: forget them, unless they were replaced meanwhile.
   * Returns whether asking again may give something else.
   */
  invalidate(refused: CredentialHeaders): boolean;
}

/** Where an API server is and how to be let in. */
export interface ClusterConnection {
  /** For example `https://10.0.0.1:6443`; a path is kept, a trailing slash is not. */
  readonly serverUrl: string;
  /**
   * Read before every request, after `credentials` were asked: another object than the last time means that the connections
   * there are no longer say who we are, or whom we trust.
   */
  readonly tls: TlsMaterial;
  readonly credentials: Credentials;
  /** The proxy on the way: http, https or socks5. @default none */
  readonly proxyUrl?: string;
  /** The namespace that the kubeconfig's context names. */
  readonly namespace?: string;
  /** Where this came from, for people: a file and its context, or `in-cluster`. */
  readonly source: string;
}
