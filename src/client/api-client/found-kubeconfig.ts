import { realpathSync } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { isLoopbackAddress } from '@rollkeeper/machinery/loopback';
import type { KubeconfigCluster, KubeconfigUser } from './kubeconfig-file.js';

interface FoundContext {
  /** Names of the entries, for errors. */
  readonly fields: { readonly cluster: string; readonly user: string };
  readonly cluster: KubeconfigCluster;
  readonly user: KubeconfigUser | undefined;
  /** The file. */
  readonly path: string;
}

/**
 * Checks a kubeconfig that no user has chosen: one that lies in a folder that a command happens to run in. Credentials are sent to
 * the machine itself alone, and nothing outside of the file's folder is read or run.
 * @throws InvalidOptionError naming the field
 */
export function assertHarmless({ cluster, fields, path, user }: FoundContext): void {
  const refuse = (field: string, why: string): never => {
    throw new InvalidOptionError(field, `${why}: name the file with --kubeconfig if you trust it`);
  };
  const host = URL.parse(cluster.server)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  if (host !== 'localhost' && !isLoopbackAddress(host))
    refuse(`${fields.cluster}: server`, 'may only be on this machine in a file that was found');
  if (cluster['proxy-url'])
    refuse(`${fields.cluster}: proxy-url`, 'may not be given by a file that was found');
  if (user?.exec) refuse(`${fields.user}: exec`, 'may not be given by a file that was found');
  if (user?.['auth-provider'])
    refuse(`${fields.user}: auth-provider`, 'may not be given by a file that was found');
  const folder = realpathOf(dirname(resolve(path)));
  const files: [field: string, file: string | null | undefined][] = [
    [`${fields.cluster}: certificate-authority`, cluster['certificate-authority']],
    [`${fields.user}: client-certificate`, user?.['client-certificate']],
    [`${fields.user}: client-key`, user?.['client-key']],
    [`${fields.user}: tokenFile`, user?.tokenFile],
  ];
  for (const [field, file] of files)
    if (file && !realpathOf(file).startsWith(folder + sep))
      refuse(field, 'may only name files beside a file that was found');
}

/** Links are followed; a file that does not exist is reported by its reader. */
function realpathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
