import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Storage, TokenUser } from '@rollkeeper/apiserver';
import { ApiServer, createKindRegistry, createSchemaRegistry } from '@rollkeeper/apiserver';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { ShutdownError } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import { createAuthority, createServerCertificate } from '@rollkeeper/tls/certificates';
import type { KeyPair } from '@rollkeeper/tls';
import type { ClusterAccess } from './cluster-access.js';
import { makeAccessFolder, removeAccessFolder, writeAccess } from './cluster-access.js';

interface ControlPlaneOptions {
  readonly storage: Storage;
  readonly port: number;
  readonly webhookServices: Readonly<Record<string, string>>;
  readonly unknownServiceAccounts: 'warn' | 'refuse';
  readonly metrics: boolean;
  /** The cluster's time, for timestamps; its pauses are the machine's. */
  readonly clock: Clock;
  readonly users: readonly TokenUser[];
  /** Certificates are for clients on real time. */
  readonly machineNowMs: number;
  readonly random: RandomSource;
  readonly logger: Logger;
}

/** How long a stop waits for requests in flight, milliseconds. */
const DRAIN_TIMEOUT_MS = 1000;

/** An API server on its own port, with its own certificates and its own kubeconfig. */
export class ControlPlane {
  private constructor(
    readonly access: ClusterAccess,
    /** Signs the server's certificate and those of clients. */
    readonly authority: KeyPair,
    /** Settles with the server: rejects when it has failed. */
    readonly ended: Promise<void>,
    private readonly parts: {
      readonly server: AbortController;
      readonly store: AbortController;
      readonly dir: string;
    },
  ) {}

  static async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    const { clock, logger, machineNowMs, port, random, storage, users, webhookServices } = options;
    const authority = await createAuthority(machineNowMs);
    const tls = await createServerCertificate(authority, ['127.0.0.1', '::1', 'localhost'], machineNowMs);
    const ca = authority.pem.cert;
    const token = randomBytes(32).toString('base64url');
    const server = new ApiServer({
      storage,
      kinds: createKindRegistry(undefined, { hasMetrics: options.metrics }),
      schemas: createSchemaRegistry(),
      clock,
      random,
      logger,
      tls,
      clientCa: ca,
      token,
      users,
      port,
      webhookServices,
      unknownServiceAccounts: options.unknownServiceAccounts,
      drainTimeoutMs: DRAIN_TIMEOUT_MS,
    });
    const stops = { server: new AbortController(), store: new AbortController() };
    const storeRun = storage.run(stops.store.signal);
    // The store stops last: requests in flight still need it. If it fails, the server stops as well.
    storeRun.catch(() => stops.server.abort());
    const ended = server.run(stops.server.signal).finally(async () => {
      stops.store.abort();
      await storeRun;
    });
    ended.catch(() => undefined);
    const { url } = await Promise.race([server.ready, ended.then(() => server.ready)]);
    try {
      const dir = await makeAccessFolder();
      const access = await writeAccess({ url, ca, token }, join(dir, 'kubeconfig'));
      return new ControlPlane(access, authority.pem, ended, { ...stops, dir });
    } catch (error) {
      stops.server.abort();
      await ended;
      throw error;
    }
  }

  /** Access for another user, with a kubeconfig of its own. */
  accessWith(name: string, token: string): Promise<ClusterAccess> {
    const { access, parts } = this;
    const file = `kubeconfig-${encodeURIComponent(name)}`;
    return writeAccess({ ...access, token }, join(parts.dir, file));
  }

  /** Ends watches and requests, then the store, and removes the kubeconfig. Rejects if the server had failed. */
  async stop(): Promise<void> {
    const { dir, server } = this.parts;
    server.abort(new ShutdownError('the test cluster stops'));
    try {
      await this.ended;
    } finally {
      await removeAccessFolder(dir);
    }
  }
}
