import type { IncomingMessage, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeKey, readCheckResults, signatureOf } from '../../src/controllers/deployment/index.js';
import { RolloutHistory, findViolations } from '../../src/testing/rollout-history.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

const KEY = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

interface Asked {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Prometheus, a webhook and a sink of CloudEvents, on one port. */
class Outside {
  readonly asked: Asked[] = [];
  /** Undefined: it is away. */
  value: string | undefined = '0';
  /** Answers of Prometheus are kept until this is false. */
  holds = false;
  /** The status with which the sink answers. */
  sinkStatus = 200;
  private constructor(private readonly server: Server) {}

  static async start(): Promise<Outside> {
    const server = createServer();
    const outside = new Outside(server);
    server.on('request', (request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { headers, url = '' } = request;
        outside.asked.push({ url, headers, body });
        if (url === '/events') return void response.writeHead(outside.sinkStatus).end();
        if (url === '/gate') return void response.writeHead(200).end();
        if (outside.value === undefined) return void request.socket.destroy();
        const result = [{ metric: {}, value: [1, outside.value] }];
        const text = JSON.stringify({ status: 'success', data: { resultType: 'vector', result } });
        if (!outside.holds) response.end(text);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return outside;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  at(path: string): readonly Asked[] {
    return this.asked.filter(({ url }) => url.startsWith(path));
  }

  /** The outcomes that the sink was sent, each once. */
  get told(): readonly string[] {
    const ids = this.at('/events').map(({ body }) => (JSON.parse(body) as { id: string }).id);
    return [...new Set(ids)].map((id) => id.split('.').slice(1, 3).join(' '));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe.skipIf(!anyKubectl())('a rollout under checks, with kubectl', () => {
  let outside: Outside;
  let lab: PolicyUp;
  let history: RolloutHistory;
  let folder: string;

  beforeAll(async () => {
    outside = await Outside.start();
    folder = mkdtempSync(join(tmpdir(), 'rollkeeper-checks-'));
    const key = join(folder, 'key');
    writeFileSync(key, KEY);
    const files = ['--check-signing-key-file', key, '--cloudevents-signing-key-file', key];
    lab = await PolicyUp.start('--', '--cloudevents-sink', `${outside.url}/events`, ...files);
    history = new RolloutHistory(lab.client, 'default');
    await history.start();
    const checks = join(folder, 'checks.yaml');
    const prometheus = { address: outside.url, query: 'errors{hash="{{hash}}"}', condition: '< 0.01' };
    const pods = { restartPolicy: 'Never', containers: [{ name: 'smoke', image: 'busybox:1' }] };
    const data = {
      gate: JSON.stringify({ webhook: { url: `${outside.url}/gate` } }),
      slo: JSON.stringify({ prometheus, interval: '1s', count: 3 }),
      smoke: JSON.stringify({ job: { deadline: '1m', template: { spec: { template: { spec: pods } } } } }),
    };
    const metadata = { name: 'rollkeeper-checks' };
    writeFileSync(checks, JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }));
    await lab.kubectl('apply', '-f', checks);
    await lab.kubectl('create', 'deployment', 'web', '--image=web:1', '--replicas=4');
    await lab.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s');
  });

  afterAll(async () => {
    await history.stop();
    await lab.stop();
    await outside.stop();
    rmSync(folder, { recursive: true });
  });

  const setImage = (image: string) => lab.kubectl('set', 'image', 'deployment/web', `web=${image}`);
  const annotate = (...annotations: string[]) =>
    lab.kubectl(
      ...['annotate', 'deployment/web', '--overwrite'],
      ...annotations.map((each) => `rollkeeper.dev/${each}`),
    );
  const runsOf = async (image: string) => {
    const sets = await lab.replicaSets();
    const set = sets.find(({ spec }) => spec.template?.spec?.containers[0]?.image === image);
    return set ? readCheckResults(set) : [];
  };
  const isGood = (image: string): Promise<unknown> =>
    waitFor(
      async () => {
        const sets = await lab.replicaSets();
        const set = sets.find(({ spec }) => spec.template?.spec?.containers[0]?.image === image);
        return set?.metadata.annotations?.['rollkeeper.dev/good-since'];
      },
      { what: `${image} to be good`, timeoutMs: 60_000 },
    );

  it('passes a webhook, Prometheus and a Job, and says so when it is complete', async () => {
    await annotate('on-failure=rollback', 'steps=check gate; 1; check slo; 100%; check smoke');
    await setImage('web:2');
    await isGood('web:2');
    expect((await runsOf('web:2')).map(({ check, state }) => `${check} ${state}`)).toEqual([
      'gate passed',
      'slo passed',
      'smoke passed',
    ]);
    const [gate] = outside.at('/gate');
    const {
      'webhook-id': id,
      'webhook-signature': signature,
      'webhook-timestamp': seconds,
    } = gate?.headers ?? {};
    const content = { id: String(id), seconds: Number(seconds), body: gate?.body ?? '' };
    expect(signature).toBe(signatureOf(decodeKey(KEY), content));
    const wait = await lab.rollkeeper('rollout', 'wait', 'deployment/web', '--no-github');
    expect(wait.code).toBe(0);
    await waitFor(() => outside.told.includes('2 complete'), { what: 'the sink to be told' });
    const jobs = await lab.kubectl('get', 'jobs', '-o', 'name');
    expect(jobs.stdout.trim().split('\n')).toHaveLength(1);
  });

  it('goes back by itself when a check fails', async () => {
    outside.value = '0.5';
    await setImage('web:3');
    const wait = await lab.rollkeeper('rollout', 'wait', 'deployment/web', '--no-github', '--timeout', '1m');
    expect(wait.code).toBe(4);
    expect(wait.stderr).toContain('check slo failed at step 3: 0.5 is not < 0.01');
    await lab.sized({ 'web:2': 4 });
    await waitFor(() => outside.told.some((told) => told.includes('rolled-back')), {
      what: 'the sink to be told',
    });
  });

  it('is gone on from by another leader that dies in the middle of a measurement, and of a Job', async () => {
    outside.value = undefined;
    await setImage('web:4');
    await lab.says('WaitingForCheck Step 3 of 5 (check slo): unknown');
    expect(await lab.sizes()).toEqual({ 'web:2': 3, 'web:4': 1 });
    Object.assign(outside, { value: '0', holds: true });
    const before = outside.at('/api').length;
    await waitFor(() => outside.at('/api').length > before, {
      what: 'a measurement to begin',
      timeoutMs: 60_000,
    });
    await lab.killLeader();
    outside.holds = false;
    await waitFor(async () => (await runsOf('web:4')).some(({ job }) => job !== undefined), {
      what: 'the Job to be recorded',
      timeoutMs: 60_000,
    });
    await lab.killLeader();
    await isGood('web:4');
    const runs = await runsOf('web:4');
    expect(runs.map(({ check, state }) => `${check} ${state}`)).toContain('slo passed');
    const known = runs.find(({ check }) => check === 'slo')?.recent;
    expect(known, 'no measurement is counted twice').toBe('ppp');
    const { stdout } = await lab.kubectl('get', 'jobs', '-l', 'rollkeeper.dev/revision=5', '-o', 'name');
    const revision = (await lab.deployment()).metadata.annotations?.['deployment.kubernetes.io/revision'];
    if (revision === '5') expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(findViolations(history.events())).toEqual([]);
  });

  it('tells a sink that was away, and holds no rollout for it', async () => {
    outside.sinkStatus = 503;
    await annotate('steps-');
    await setImage('web:5');
    await lab.sized({ 'web:5': 4 });
    const { metadata } = await lab.deployment();
    const told = `${metadata.annotations?.['deployment.kubernetes.io/revision']} complete`;
    await waitFor(() => outside.told.includes(told), { what: 'the sink to be asked' });
    const before = outside.at('/events').length;
    outside.sinkStatus = 200;
    await waitFor(() => outside.at('/events').length > before, { what: 'another try', timeoutMs: 60_000 });
  });
});
