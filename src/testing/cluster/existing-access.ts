import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { ClusterConnection } from '@rollkeeper/client/api-client';
import { contextKubeconfig, loadKubeconfig } from '@rollkeeper/client/api-client';
import type { Clock } from '@rollkeeper/machinery/clock';
import { replaceFile } from '@rollkeeper/machinery/files';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ClusterAccess } from './cluster-access.js';
import { makeAccessFolder, removeAccessFolder } from './cluster-access.js';
import type { ExistingClusterPlace } from './test-cluster.options.js';

/** The way into a cluster that exists, by its kubeconfig. */
export class ExistingAccess {
  private constructor(
    readonly connection: ClusterConnection,
    /** As the kubeconfig's user. */
    readonly access: ClusterAccess,
    private readonly folder: string,
  ) {}

  /** @throws InvalidOptionError naming the file and the field */
  static async open(
    { context, kubeconfig }: ExistingClusterPlace,
    { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
  ): Promise<ExistingAccess> {
    const text = await contextKubeconfig({ path: kubeconfig, context });
    const folder = await makeAccessFolder();
    try {
      const path = join(folder, 'kubeconfig');
      await replaceFile(path, text, { mode: 0o600 });
      const connection = await loadKubeconfig({ path, clock, logger });
      const { authorization } = await connection.credentials.headers();
      const token = /^Bearer (.*)$/.exec(String(authorization ?? ''))?.[1] ?? '';
      const access = {
        url: connection.serverUrl,
        ca: connection.tls.ca?.toString() ?? '',
        token,
        kubeconfig: { text, path },
      };
      return new ExistingAccess(connection, access, folder);
    } catch (error) {
      await removeAccessFolder(folder);
      throw error;
    }
  }

  /** The same cluster for another user, with a kubeconfig of its own. */
  async accessWith(name: string, token: string): Promise<ClusterAccess> {
    const config = parse(this.access.kubeconfig.text) as { contexts: { context: { user?: string } }[] };
    for (const { context } of config.contexts) context.user = name;
    const text = stringify({ ...config, users: [{ name, user: { token } }] });
    const path = join(this.folder, `kubeconfig-${encodeURIComponent(name)}`);
    await replaceFile(path, text, { mode: 0o600 });
    return { ...this.access, token, kubeconfig: { text, path } };
  }

  close(): Promise<void> {
    return removeAccessFolder(this.folder);
  }
}
