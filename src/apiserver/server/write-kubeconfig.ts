import { stringify } from 'yaml';
import { replaceFile } from '@rollkeeper/machinery/files';

export interface KubeconfigContent {
  /** `https://127.0.0.1:6443` */
  readonly server: string;
  /** Absent for plain HTTP. */
  readonly caPem?: string;
  readonly token: string;
}

export interface KubeconfigOptions extends KubeconfigContent {
  readonly path: string;
}

/** A kubeconfig with one context, as text. */
export function kubeconfigText({ server, caPem, token }: KubeconfigContent): string {
  const name = 'rollkeeper';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name,
        cluster: {
          server,
          ...(caPem && { 'certificate-authority-data': Buffer.from(caPem).toString('base64') }),
        },
      },
    ],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
    'current-context': name,
  };
  return stringify(config);
}

/** Writes a kubeconfig with one context, readable by its owner only; replaces the file at once. */
export async function writeKubeconfig({ path, ...content }: KubeconfigOptions): Promise<void> {
  await replaceFile(path, kubeconfigText(content), { mode: 0o600 });
}
