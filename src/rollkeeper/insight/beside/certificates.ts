/** When certificates end, epoch milliseconds. Absent: there is none, or it could not be seen. */
export interface CertificateFacts {
  /** The end of the API server's certificate. */
  readonly serverEndsAtMs?: number;
  /** The end of the authority in the kubeconfig, by which the server is trusted: the last of them. */
  readonly authorityEndsAtMs?: number;
  /** The end of the user's certificate in the kubeconfig. */
  readonly clientEndsAtMs?: number;
}

/** A certificate without which the API server can no longer be reached. */
export interface NamedCertificate {
  readonly what: string;
  /** Epoch milliseconds. */
  readonly endsAtMs: number | undefined;
  readonly remedy: string;
}

/** The certificates of a connection, with what to do when one ends. */
export function certificatesOf(facts: CertificateFacts): readonly NamedCertificate[] {
  return [
    {
      what: 'the API server’s certificate',
      endsAtMs: facts.serverEndsAtMs,
      remedy:
        'renew it (kubeadm: `kubeadm certs renew apiserver`), and restart the processes that do not reload it',
    },
    {
      what: 'the certificate authority of the kubeconfig',
      endsAtMs: facts.authorityEndsAtMs,
      remedy:
        'issue another authority, and certificates of it; servers and clients must trust both while they change',
    },
    {
      what: 'the client certificate of the kubeconfig',
      endsAtMs: facts.clientEndsAtMs,
      remedy: 'issue another one, or use the token of a service account',
    },
  ];
}
