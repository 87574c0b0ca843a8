import { readNamedFile } from '@rollkeeper/machinery/files';
import type { ApiClient, Clock, Logger } from '@rollkeeper/runtime';
import { Secret, isAlreadyExists, isConflict, typeMeta, unlessGone } from '@rollkeeper/runtime';
import type { KeyPair } from '@rollkeeper/tls';
import { certificateFiles } from '@rollkeeper/tls';
import type { CertificatePlan, StoredCertificates } from './decide-certificates.js';
import { bundleWith, decideCertificates } from './decide-certificates.js';
import type { WebhookCertificateFiles } from './webhook-server.options.js';

interface HeldCertificates {
  readonly served: KeyPair;
  /** For `caBundle`, PEM; undefined: left to others. */
  readonly ca: string | undefined;
}

/** The source of the server's certificate; asked again and again. */
export interface CertificateSource {
  /**
   * @param may whether this replica may change them now
   * @param published what the configurations trust, as far as this replica has seen to it
   */
  look(may: boolean, published: string | undefined): Promise<HeldCertificates>;
}

interface SecretCertificatesOptions {
  readonly client: Pick<ApiClient, 'get' | 'create' | 'update'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
  readonly secret: { readonly namespace: string; readonly name: string };
  readonly hosts: readonly string[];
}

/** Conflicts in a row after which a look fails, and comes again. */
const MAX_CONFLICTS = 5;

/** Made here, and shared by all replicas in a Secret. */
export class SecretCertificates implements CertificateSource {
  constructor(private readonly options: SecretCertificatesOptions) {}

  async look(may: boolean, published: string | undefined): Promise<HeldCertificates> {
    const { client, clock, hosts, logger, secret } = this.options;
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const present = await unlessGone(client.get<Secret>(Secret, secret));
      const stored = present && storedIn(present);
      const isPublished = stored !== undefined && stored.ca === published;
      const plan = decideCertificates({ stored, nowMs: clock.now(), hosts, isPublished });
      // A Secret that does not exist yet may be created by any replica: of several, one succeeds.
      if (stored && (plan === 'nothing' || (!may && plan !== 'begin')))
        return { served: stored.served, ca: stored.ca };
      const next = await this.carryOut(plan, stored);
      if (!(await this.write(present, next))) continue;
      logger.info('made certificates for the webhooks', { did: plan, ...secret });
      return { served: next.served, ca: next.ca };
    }
    throw new Error(`the Secret ${secret.namespace}/${secret.name} was changed by others again and again`);
  }

  private async carryOut(
    plan: CertificatePlan,
    stored: StoredCertificates | undefined,
  ): Promise<StoredCertificates> {
    // Imported lazily: the library is large, and needed once a year.
    const { createAuthority, createServerCertificate, loadAuthority } =
      await import('@rollkeeper/tls/certificates');
    const { clock, hosts } = this.options;
    const nowMs = clock.now();
    if (!stored || plan === 'begin' || plan === 'nothing') {
      const authority = await createAuthority(nowMs);
      const { cert: ca, key: caKey } = authority.pem;
      return { ca, caKey, served: await createServerCertificate(authority, hosts, nowMs) };
    }
    if (plan === 'add-authority') {
      const { cert, key: caKey } = (await createAuthority(nowMs)).pem;
      return { ...stored, ca: bundleWith(cert, stored.ca, nowMs), caKey };
    }
    const authority = await loadAuthority({ cert: stored.ca, key: stored.caKey });
    return { ...stored, served: await createServerCertificate(authority, hosts, nowMs) };
  }

  /** Whether the write succeeded; not if another was faster. */
  private async write(present: Secret | undefined, stored: StoredCertificates): Promise<boolean> {
    const { client, secret } = this.options;
    const data = dataOf(stored);
    try {
      if (present) await client.update<Secret>(Secret, { ...present, data: { ...present.data, ...data } });
      else
        await client.create<Secret>(Secret, {
          ...typeMeta(Secret),
          metadata: secret,
          data,
          type: 'kubernetes.io/tls',
        });
      return true;
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error)) return false;
      throw error;
    }
  }
}

/** Files maintained by others. */
export class FileCertificates implements CertificateSource {
  constructor(private readonly files: WebhookCertificateFiles) {}

  async look(): Promise<HeldCertificates> {
    const { caFile, certFile, keyFile } = this.files;
    const served = await certificateFiles(certFile, keyFile).read(undefined);
    return { served, ca: caFile === undefined ? undefined : await readNamedFile(caFile) };
  }
}

/** An authority and a certificate that live as long as the process: for one replica, in tests. */
export class ProcessCertificates implements CertificateSource {
  private made: Promise<HeldCertificates> | undefined;

  constructor(
    private readonly hosts: readonly string[],
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  look(): Promise<HeldCertificates> {
    this.made ??= this.make();
    return this.made;
  }

  private async make(): Promise<HeldCertificates> {
    const { createAuthority, createServerCertificate } = await import('@rollkeeper/tls/certificates');
    const authority = await createAuthority(this.clock.now());
    const served = await createServerCertificate(authority, this.hosts, this.clock.now());
    return { served, ca: authority.pem.cert };
  }
}

function storedIn({ data = {} }: Secret): StoredCertificates | undefined {
  const text = (field: string): string => Buffer.from(data[field] ?? '', 'base64').toString();
  const [ca, caKey, cert, key] = [text('ca.crt'), text('ca.key'), text('tls.crt'), text('tls.key')];
  return ca && caKey && cert && key ? { ca, caKey, served: { cert, key } } : undefined;
}

function dataOf({ ca, caKey, served }: StoredCertificates): Record<string, string> {
  const texts = { 'ca.crt': ca, 'ca.key': caKey, 'tls.crt': served.cert, 'tls.key': served.key };
  return Object.fromEntries(
    Object.entries(texts).map(([field, text]) => [field, Buffer.from(text).toString('base64')]),
  );
}
