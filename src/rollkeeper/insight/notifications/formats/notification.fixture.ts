import { SECRET_HOSTS } from '../../../../controllers/deployment/index.js';
import type { Secret } from '../../../../machinery/kubernetes/index.js';
import type { Notification } from './notification.js';

/** A notification of a failure, with texts that a hostile user wrote. */
export function aNotification(changes: Partial<Notification> = {}): Notification {
  return {
    ...{ event: 'failed', key: 'failed.1', id: 'uid.7.failed.1' },
    ...{ namespace: 'shop', name: 'web', uid: 'uid', revision: '7' },
    about: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'shop' } },
    replicaSet: {
      ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'web-1', namespace: 'shop' } },
      spec: { replicas: 1, selector: {} },
    },
    title: 'shop/web failed at revision 7',
    text: '<!channel> "web" failed & [went](https://evil.test) back',
    images: ['web:2'],
    by: 'claimed by anna',
    cause: 'ImagePullBackOff',
    link: 'https://console.test/console?deployment=shop%2Fweb',
    atMs: Date.UTC(2026, 10, 29, 12),
    ...changes,
  };
}

/** The Secret of a channel. @param hosts that the Secret itself allows */
export function aChannelSecret(data: Record<string, string>, hosts = '*.test'): Secret {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return {
    ...{ apiVersion: 'v1', kind: 'Secret', type: 'Opaque' },
    metadata: {
      name: 'chat',
      namespace: 'default',
      annotations: { [SECRET_HOSTS]: hosts },
    },
    data: Object.fromEntries(encoded) as Record<string, string>,
  };
}
