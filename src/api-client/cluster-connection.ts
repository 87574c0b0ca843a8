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

/** Who we are. Asked before every request, so it answers from memory unless something expired. */
export interface Credentials {
  /** Headers such as `authorization`. */
  headers(): Promise<Readonly<Record<string, string>>>;
  /** The server answered 401: forget what was remembered. Returns whether asking again may give something new. */
  invalidate(): boolean;
}

/** Where an API server is and how to be let in. */
export interface ClusterConnection {
  /** For example `https://10.0.0.1:6443`; a path is kept, a trailing slash is not. */
  readonly serverUrl: string;
  readonly tls: TlsMaterial;
  readonly credentials: Credentials;
  /** The namespace that the kubeconfig's context names. */
  readonly namespace?: string;
  /** Where this came from, for people: a file and its context, or `in-cluster`. */
  readonly source: string;
}
