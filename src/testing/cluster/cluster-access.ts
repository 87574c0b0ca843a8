import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kubeconfigText, writeKubeconfig } from '@rollkeeper/apiserver';

/** A client's access to the cluster: the administrator's unless noted. */
export interface ClusterAccess {
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  /** The CA certificate of the server. PEM. Empty if the kubeconfig of an existing cluster has none. */
  readonly ca: string;
  /**
   * A bearer token: the administrator's grants everything. Empty if the kubeconfig of an existing cluster has another
   * proof of identity, a client certificate for example.
   */
  readonly token: string;
  readonly kubeconfig: {
    readonly text: string;
    /** A file with that text, which exists until the cluster stops. */
    readonly path: string;
  };
}

/** Writes a kubeconfig there, readable by its owner only. */
export async function writeAccess(
  { ca, token, url }: Pick<ClusterAccess, 'url' | 'ca' | 'token'>,
  path: string,
): Promise<ClusterAccess> {
  const content = { server: url, caPem: ca, token };
  await writeKubeconfig({ path, ...content });
  return { url, ca, token, kubeconfig: { text: kubeconfigText(content), path } };
}

/** Folders of clusters that were not stopped; removed when the process exits. */
const folders = new Set<string>();

/** A folder for kubeconfigs, removed at the latest when the process exits. */
export async function makeAccessFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'rollkeeper-test-cluster-'));
  if (folders.size === 0) process.on('exit', removeAll);
  folders.add(dir);
  return dir;
}

export async function removeAccessFolder(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true });
  folders.delete(dir);
  if (folders.size === 0) process.off('exit', removeAll);
}

function removeAll(): void {
  for (const dir of folders) rmSync(dir, { recursive: true, force: true });
}
