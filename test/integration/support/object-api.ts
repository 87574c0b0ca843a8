import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mergePatch } from '../../../src/machinery/kubernetes/index.js';

export interface StoredObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

interface Answer {
  readonly status: number;
  readonly body: object;
}

interface KindNames {
  readonly kind: string;
  readonly resource: string;
  readonly namespaced: boolean;
}

const KINDS: Readonly<Record<string, readonly KindNames[]>> = {
  v1: [
    { kind: 'ConfigMap', resource: 'configmaps', namespaced: true },
    { kind: 'Secret', resource: 'secrets', namespaced: true },
    { kind: 'Service', resource: 'services', namespaced: true },
    { kind: 'ServiceAccount', resource: 'serviceaccounts', namespaced: true },
  ],
  'apps/v1': [{ kind: 'Deployment', resource: 'deployments', namespaced: true }],
  'networking.k8s.io/v1': [{ kind: 'NetworkPolicy', resource: 'networkpolicies', namespaced: true }],
  'policy/v1': [{ kind: 'PodDisruptionBudget', resource: 'poddisruptionbudgets', namespaced: true }],
  'rbac.authorization.k8s.io/v1': [
    { kind: 'ClusterRole', resource: 'clusterroles', namespaced: false },
    { kind: 'ClusterRoleBinding', resource: 'clusterrolebindings', namespaced: false },
    { kind: 'Role', resource: 'roles', namespaced: true },
    { kind: 'RoleBinding', resource: 'rolebindings', namespaced: true },
  ],
};

const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update'];
const refusal = (status: number, reason: string): Answer => ({
  status,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, reason, message: reason },
});

/** As much of a Kubernetes API as helm needs: it keeps what it is given, by path, and judges nothing. */
export class ObjectApi {
  private readonly objects = new Map<string, StoredObject>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ObjectApi> {
    const server = createServer();
    const api = new ObjectApi(server);
    server.on('request', (request, response) => {
      void api.handle(request).then(({ body, status }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  object<T = StoredObject>(kind: string, name: string): T | undefined {
    return [...this.objects.values()].find(
      (object) => object.kind === kind && object.metadata.name === name,
    ) as T | undefined;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async handle(request: IncomingMessage): Promise<Answer> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const body = (text === '' ? {} : JSON.parse(text)) as StoredObject;
    const discovered = request.method === 'GET' && discovery(pathname);
    if (discovered) return { status: 200, body: discovered };
    const existing = this.objects.get(pathname);
    switch (request.method) {
      case 'POST':
        return this.create(`${pathname}/${body.metadata.name}`, body);
      case 'PUT':
        return this.store(pathname, body);
      case 'PATCH':
        if (!existing) return refusal(404, 'NotFound');
        return this.store(pathname, mergePatch(structuredClone(existing), body) as StoredObject);
      case 'DELETE':
        this.objects.delete(pathname);
        return { status: 200, body: { kind: 'Status', apiVersion: 'v1', status: 'Success' } };
      default:
        return existing
          ? { status: 200, body: existing }
          : this.list(pathname, searchParams.get('labelSelector'));
    }
  }

  private create(path: string, object: StoredObject): Answer {
    return this.objects.has(path) ? refusal(409, 'AlreadyExists') : this.store(path, object, 201);
  }

  private store(path: string, object: StoredObject, status = 200): Answer {
    this.objects.set(path, object);
    return { status, body: object };
  }

  private list(path: string, selector: string | null): Answer {
    const [apiVersion, kind] = kindAt(path);
    if (kind === undefined) return refusal(404, 'NotFound');
    const wanted = (selector ?? '').split(',').filter((part) => part !== '');
    const items = [...this.objects].flatMap(([each, object]) => {
      const fits = wanted.every((part) => {
        const [name = '', value] = part.split('=');
        return object.metadata.labels?.[name] === value;
      });
      return each.startsWith(`${path}/`) && fits ? [object] : [];
    });
    return { status: 200, body: { kind: `${kind}List`, apiVersion, metadata: {}, items } };
  }
}

/** The kind whose collection this is. */
function kindAt(path: string): [apiVersion: string, kind: string | undefined] {
  const [, apiVersion = '', resource = ''] =
    /^\/apis?\/((?:[\w.-]+\/)?v\d)(?:\/namespaces\/[\w-]+)?\/(\w+)$/.exec(path) ?? [];
  return [apiVersion, KINDS[apiVersion]?.find((each) => each.resource === resource)?.kind];
}

function discovery(path: string): object | undefined {
  if (path === '/version') return { major: '1', minor: '32', gitVersion: 'v1.32.0' };
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] };
  if (path === '/apis') {
    const groups = Object.keys(KINDS)
      .filter((groupVersion) => groupVersion.includes('/'))
      .map((groupVersion) => {
        const [name, version] = groupVersion.split('/');
        return { name, versions: [{ groupVersion, version }], preferredVersion: { groupVersion, version } };
      });
    return { kind: 'APIGroupList', apiVersion: 'v1', groups };
  }
  const groupVersion = path.replace(/^\/apis?\//, '');
  const resources = KINDS[groupVersion]?.map(({ kind, namespaced, resource }) => ({
    name: resource,
    singularName: kind.toLowerCase(),
    namespaced,
    kind,
    verbs: VERBS,
  }));
  return resources && { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources };
}
