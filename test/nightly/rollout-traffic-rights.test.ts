import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HTTPRoute } from '../../examples/traffic/gateway/gateway-api.ts';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import {
  Namespace,
  Secret,
  Service,
  ServiceAccount,
  findCondition,
  untyped,
} from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { TrafficWorld } from '../e2e/support/traffic-world.js';
import type { Finished } from '../e2e/support/up.js';
import { MAIN, run } from '../e2e/support/up.js';
import { PolicyUp } from './support/policy-up.js';
import { rightsOfShop } from './support/shop-rights.js';

const TEAM = { kind: 'ServiceAccount', namespace: 'shop', name: 'team' };
/** A word in the rollout and the Secret of the other namespace. */
const CANARY = 'zebra';
const OTHERS = { stable: 'web-stable', canary: 'web-canary' };
const SELECTOR = { app: 'web' };

/** Hears what checks send. */
class Listener {
  readonly heard: string[] = [];
  private readonly server: Server = createServer((request, response) => {
    this.heard.push(String(request.headers.authorization));
    response.setHeader('content-type', 'application/json').end('{"rate":0}');
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe.skipIf(!anyKubectl())('a user of one namespace, with kubectl', () => {
  const listener = new Listener();
  let lab: PolicyUp;
  let world: TrafficWorld;
  let token: string;
  let kubeconfig: string;
  let origin: string;

  beforeAll(async () => {
    await listener.start();
    lab = await PolicyUp.start('--replicas', '1', '--', '--admin-auth', 'delegated');
    const { client, up } = lab;
    origin = (await up.status()).replicas[0]?.adminUrl ?? '';
    for (const name of ['shop', 'secret'])
      await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const steps = `header x-canary=${CANARY}; mirror 10%; weight 20%; approve`;
    world = await TrafficWorld.start(client, 'secret', {
      policies: { steps, 'traffic-sticky': '1h', 'traffic-drain': '1s' },
      ratePerSecond: 20,
    });
    await world.settledAt('web:1');
    await world.setImage('web:2');
    await world.says('WaitingForApproval');
    await giveSecret('secret', `${CANARY}-token`);
    const { name, namespace } = TEAM;
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } };
    await client.create(ServiceAccount, account);
    for (const [type, object] of rightsOfShop(TEAM)) {
      const typed = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: type.kind, ...object };
      await client.create(type, typed as KubernetesObject);
    }
    token = await tokenOfTeam();
    kubeconfig = join(up.dataDir, 'team-kubeconfig');
    const own = readFileSync(up.kubeconfig, 'utf8').replace(/token: .*/, `token: ${token}`);
    writeFileSync(kubeconfig, own, { mode: 0o600 });
  }, 180_000);
  afterAll(async () => {
    await world?.stop();
    await lab?.stop();
    await listener.stop();
  });

  async function giveSecret(namespace: string, value: string): Promise<void> {
    const metadata = {
      ...{ namespace, name: 'token' },
      annotations: { 'rollkeeper.dev/check-hosts': listener.host },
    };
    const data = { token: Buffer.from(value).toString('base64') };
    await lab.client.create(Secret, { apiVersion: 'v1', kind: 'Secret', metadata, data });
  }

  async function tokenOfTeam(): Promise<string> {
    const asked = {
      ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' },
      metadata: { namespace: TEAM.namespace, name: TEAM.name },
      spec: { expirationSeconds: 3600 },
    };
    const { status } = await lab.client.create<KubernetesObject & { status?: { token: string } }>(
      untyped(ServiceAccount),
      asked,
      { subresource: 'token' },
    );
    return status?.token ?? '';
  }

  const env = () => ({ ...process.env, KUBECONFIG: kubeconfig });
  const kubectl = (args: readonly string[], input?: string): Promise<Finished> =>
    run(anyKubectl()?.binary ?? '', args, { env: env(), input });

  async function applies(...objects: readonly object[]): Promise<void> {
    const list = { apiVersion: 'v1', kind: 'List', items: objects };
    const { code, stderr } = await kubectl(['-n', 'shop', 'apply', '-f', '-'], JSON.stringify(list));
    expect(code, stderr).toBe(0);
  }

  /** All that a rollout could write in the other namespace. */
  async function theOthers(): Promise<unknown> {
    const { client } = lab;
    const route = await client.get(HTTPRoute, world.ref);
    const services = await Promise.all(
      Object.values(OTHERS).map((name) => client.get<Service>(Service, { namespace: 'secret', name })),
    );
    const secret = await client.get<Secret>(Secret, { namespace: 'secret', name: 'token' });
    return {
      route: { spec: route.spec, annotations: route.metadata.annotations },
      services: services.map(({ metadata }) => metadata.resourceVersion),
      secret: secret.metadata.resourceVersion,
    };
  }

  function deployment(name: string, policies: Record<string, string>): KubernetesObject {
    const annotations = Object.fromEntries(
      Object.entries(policies).map(([key, value]) => [`rollkeeper.dev/${key}`, value]),
    );
    const containers = [{ name: 'web', image: 'mine:1', ports: [{ containerPort: 8080 }] }];
    return {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, annotations } },
      spec: {
        ...{ replicas: 1, selector: { matchLabels: SELECTOR } },
        strategy: { rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 } },
        template: { metadata: { labels: SELECTOR }, spec: { containers } },
      },
    } as KubernetesObject;
  }

  /** A route of the team, whose backends are the Services of the other namespace. */
  function routeToOthers(annotations: Record<string, string> = {}): object {
    const backendRefs = [
      { name: OTHERS.stable, namespace: 'secret', port: 80, weight: 50 },
      { name: OTHERS.canary, namespace: 'secret', port: 80, weight: 50 },
    ];
    return {
      ...{ apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute' },
      metadata: { name: 'mine', annotations },
      spec: { parentRefs: [{ name: 'web', namespace: 'secret' }], rules: [{ backendRefs }] },
    };
  }

  async function policyOf(name: string): Promise<string> {
    const { stdout } = await kubectl(['-n', 'shop', 'get', 'deployment', name, '-o', 'json']);
    const { status } = JSON.parse(stdout) as { status?: { conditions?: { type: string }[] } };
    return JSON.stringify(findCondition(status?.conditions as never, 'RolloutPolicy') ?? {});
  }

  it.each([
    ['the name of the namespace in the route', { traffic: 'httproute/secret/web' }, 'does not exist'],
    ['the name of the namespace before the route', { traffic: 'secret/httproute/web' }, 'is not a list of'],
    ['a route of a name that only the other has', { traffic: 'httproute/web' }, 'does not exist'],
    [
      'the name of the namespace in a Service',
      { traffic: 'httproute/mine', 'stable-service': 'secret/web-stable' },
      'is not the name of a Service',
    ],
    [
      'a route of their own to the Services of the other',
      { traffic: 'httproute/mine', 'stable-service': OTHERS.stable, 'canary-service': OTHERS.canary },
      'no rule of',
    ],
  ])('steers no requests of another by %s', async (_case, policies, why) => {
    const before = await theOthers();
    const steps = 'header x-canary=mine; cookie a=b; mirror 50%; weight 90%; approve';
    await applies(routeToOthers(), deployment('web', { ...policies, steps, 'traffic-sticky': '1h' }));
    await waitFor(async () => (await policyOf('web')).includes(why), { what: `the condition: ${why}` });
    expect((await kubectl(['-n', 'shop', 'set', 'image', 'deployment/web', 'web=mine:2'])).code).toBe(0);
    await waitFor(async () => (await policyOf('web')).includes(why), { what: `still the condition: ${why}` });
    expect(await theOthers()).toEqual(before);
    expect((await world.traffic.load.burst(50)).byImage).not.toHaveProperty('mine:2');
    expect((await kubectl(['-n', 'shop', 'delete', 'deployment/web'])).code).toBe(0);
  });

  it('clears no route of another by a note that names Services there', async () => {
    const before = await theOthers();
    const note = JSON.stringify({ gone: OTHERS, web: OTHERS, 'secret/web': OTHERS });
    await applies(routeToOthers({ 'rollkeeper.dev/steered-by': note }));
    const read = async (): Promise<KubernetesObject> =>
      JSON.parse(
        (await kubectl(['-n', 'shop', 'get', 'httproute', 'mine', '-o', 'json'])).stdout,
      ) as KubernetesObject;
    await waitFor(
      async () => {
        const { annotations = {} } = (await read()).metadata;
        return annotations['rollkeeper.dev/steered-by'] === undefined;
      },
      { what: 'the note to be cleared' },
    );
    const { rules } = (await lab.client.get(HTTPRoute, { namespace: 'shop', name: 'mine' })).spec;
    expect(rules?.[0]?.backendRefs?.map(({ weight }) => weight)).toEqual([50, 50]);
    expect(await theOthers()).toEqual(before);
  });

  it('has Services of experiments made in its own namespace alone, also for a Deployment with the name of another', async () => {
    const before = await theOthers();
    const steps = 'experiment 10m: baseline 1, canary 1, services; 100%';
    await applies(deployment('web', { steps }));
    await kubectl(['-n', 'shop', 'rollout', 'status', 'deployment/web', '--timeout=60s']);
    expect((await kubectl(['-n', 'shop', 'set', 'image', 'deployment/web', 'web=mine:2'])).code).toBe(0);
    const labelSelector = 'rollkeeper.dev/experiment-side';
    const made = async (): Promise<readonly Service[]> =>
      (await lab.client.list<Service>(Service, { labelSelector })).items;
    await waitFor(async () => (await made()).length === 2, {
      what: 'the Services of both versions',
      timeoutMs: 60_000,
    });
    expect((await made()).map(({ metadata }) => metadata.namespace)).toEqual(['shop', 'shop']);
    expect(await theOthers()).toEqual(before);
    expect((await kubectl(['-n', 'shop', 'delete', 'deployment/web'])).code).toBe(0);
    await waitFor(async () => (await made()).length === 0, { what: 'the Services to be gone' });
  });

  it('has no Secret of another sent by a check', async () => {
    const ask = (secret: string) => ({
      web: {
        url: `http://${listener.host}/rate`,
        headers: { authorization: { secret, key: 'token' } },
        'json-path': '$.rate',
        condition: '< 1',
      },
      interval: '1s',
    });
    const data = {
      'by-name': JSON.stringify(ask('token')),
      'by-path': JSON.stringify(ask('secret/token')),
      own: JSON.stringify(ask('mine')),
    };
    const metadata = { name: 'mine', annotations: { 'rollkeeper.dev/check-hosts': listener.host } };
    await applies(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'rollkeeper-checks' }, data },
      { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { token: 'of-the-team' } },
    );
    for (const check of ['by-name', 'by-path', 'own']) {
      const name = `checked-${check}`;
      await applies(deployment(name, { steps: `check ${check}; 100%` }));
      await kubectl(['-n', 'shop', 'rollout', 'status', `deployment/${name}`, '--timeout=60s']);
      await kubectl(['-n', 'shop', 'set', 'image', `deployment/${name}`, 'web=mine:2']);
    }
    await waitFor(() => listener.heard.includes('of-the-team'), {
      what: 'the Secret of the team to be sent',
    });
    for (const check of ['by-name', 'by-path']) {
      const said = async (): Promise<boolean> => {
        const { stdout } = await kubectl([
          '-n',
          'shop',
          'get',
          'deployment',
          `checked-${check}`,
          '-o',
          'json',
        ]);
        return /"message": "[^"]*Secret|"message": "[^"]*secret/.test(stdout);
      };
      await waitFor(said, { what: `${check} to say what is wrong with its Secret`, timeoutMs: 60_000 });
    }
    expect(listener.heard.filter((each) => each !== 'of-the-team')).toEqual([]);
  });

  it('sees nothing of the rollout of another in Events, by explain, and at the admin port', async () => {
    const { stdout } = await lab.kubectl('-n', 'secret', 'get', 'events', '-o', 'json');
    expect(stdout, 'there is something to see').toContain(CANARY);
    const seen: string[] = [];
    for (const refused of [
      ['get', 'events', '-A'],
      ['-n', 'secret', 'get', 'events'],
      ['-n', 'secret', 'get', 'deployments,services,secrets'],
      ['-n', 'secret', 'get', 'httproutes'],
      ['-n', 'secret', 'annotate', 'deployment/web', 'rollkeeper.dev/abort=me'],
      ['-n', 'secret', 'annotate', 'httproute/web', 'rollkeeper.dev/steered-by-'],
    ]) {
      const finished = await kubectl(refused);
      expect(finished.code, refused.join(' ')).not.toBe(0);
      seen.push(finished.stdout, finished.stderr);
    }
    seen.push((await kubectl(['-n', 'shop', 'get', 'events,deployments,httproutes', '-o', 'json'])).stdout);
    const tokenFile = join(lab.up.dataDir, 'team-token');
    writeFileSync(tokenFile, token, { mode: 0o600 });
    await applies(deployment('mine', {}));
    await kubectl(['-n', 'shop', 'rollout', 'status', 'deployment/mine', '--timeout=60s']);
    const byKubeconfig = ['--kubeconfig', kubeconfig];
    for (const [words, flags] of [
      [['explain'], byKubeconfig],
      [['explain'], ['--admin-url', origin, '--admin-token-file', tokenFile]],
      [['timeline'], byKubeconfig],
      [['rollout', 'history'], byKubeconfig],
      [['rollout', 'status'], byKubeconfig],
    ] as const) {
      const about = (key: string) => run(process.execPath, [MAIN, ...words, key, ...flags], { env: env() });
      const own = await about('shop/mine');
      expect(own.stdout, `${words.join(' ')}: ${own.stderr}`).not.toBe('');
      const finished = await about('secret/web');
      expect(finished.code, words.join(' ')).not.toBe(0);
      seen.push(finished.stdout, finished.stderr);
    }
    expect((await asks('explain/deployments/shop/mine')).status).toBe(200);
    for (const path of [
      ...['deployments', 'explain/deployments/secret/web', 'explain/httproutes/secret/web', 'problems'],
      ...['rollouts/secret/web', 'rollouts/secret/web/timeline', 'rollouts/secret/web/changes?revision=2'],
      ...['local', 'local/decisions?since=0', 'queues', 'queues/deployment', 'controllers'],
      ...[
        'objects/httproutes/secret/web',
        'objects/services/secret/web-canary',
        'objects/secrets/secret/token',
      ],
    ])
      seen.push(await (await asks(path)).text());
    seen.push(await firstOfFeed());
    expect(seen.filter((text) => text.includes(CANARY))).toEqual([]);
    expect(await world.weights()).toBe('80/20');
  });

  const asks = (path: string, signal?: AbortSignal): Promise<Response> =>
    fetch(`${origin}/admin/${path}`, { headers: { authorization: `Bearer ${token}` }, signal });

  /** The state that the console begins with. */
  async function firstOfFeed(): Promise<string> {
    const stopper = new AbortController();
    const { body, status } = await asks('events', stopper.signal);
    expect(status).toBe(200);
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (reader && !text.includes('shop')) text += (await reader.read()).value ?? '';
    stopper.abort();
    return text;
  }
});
