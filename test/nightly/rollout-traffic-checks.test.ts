import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { imageOf } from '../../examples/traffic/gateway/pod-servers.ts';
import { SystemClock } from '../../src/machinery/clock/index.js';
import type { DeepReadonly, Pod } from '../../src/machinery/kubernetes/index.js';
import { ConfigMap } from '../../src/machinery/kubernetes/index.js';
import { TrafficCluster } from '../e2e/support/traffic-cluster.js';
import type { TrafficWorld } from '../e2e/support/traffic-world.js';

const clock = new SystemClock();
const SLOW_MS = 60;
const FAST_MS = 5;

/** A Prometheus that knows of each answer of the pods how long it took, as a gateway reports it by Service. */
class Measurements {
  /** Milliseconds, by image. */
  private readonly durations = new Map<string, number[]>();
  private readonly server: Server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const query = searchParams.get('query') ?? '';
    const image = query.includes('"web-canary"') ? 'web:2' : 'web:1';
    const known = this.durations.get(image) ?? [];
    const values = known.slice(-60).map((duration, index) => [index, String(duration)]);
    const data = pathname.endsWith('query_range')
      ? { resultType: 'matrix', result: values.length > 0 ? [{ metric: {}, values }] : [] }
      : { resultType: 'vector', result: values.slice(-1).map((value) => ({ metric: {}, value })) };
    response.end(JSON.stringify({ status: 'success', data }));
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  count(image: string): number {
    return this.durations.get(image)?.length ?? 0;
  }

  add(image: string, duration: number): void {
    this.durations.set(image, [...(this.durations.get(image) ?? []), duration]);
  }

  forget(): void {
    this.durations.clear();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('a rollout by weights under checks', () => {
  const measurements = new Measurements();
  let lab: TrafficCluster;

  beforeAll(async () => {
    await measurements.start();
    lab = await TrafficCluster.start({ checks: { hosts: [{ host: '127.0.0.1', isSuffix: false }] } });
  });
  afterEach(async () => {
    await lab.rest();
    measurements.forget();
  });
  afterAll(async () => {
    await lab?.stop();
    await measurements.stop();
  });

  /** The second version is slow. */
  function answer(pod: DeepReadonly<Pod>, _request: IncomingMessage, response: ServerResponse): void {
    const image = imageOf(pod);
    const began = clock.monotonicNow();
    clock.setTimeout(
      () => {
        response.writeHead(200, { 'x-image': image }).end();
        measurements.add(image, clock.monotonicNow() - began);
      },
      image === 'web:2' ? SLOW_MS : FAST_MS,
    );
  }

  async function start(steps: string, check: object): Promise<TrafficWorld> {
    const namespace = await lab.createNamespace();
    const gateway = { address: measurements.address, implementation: 'istio', measures: 'latency', ...check };
    await lab.client.create(ConfigMap, {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'rollkeeper-checks' } },
      data: { latency: JSON.stringify({ gateway, interval: '1s' }) },
    });
    const policies = { steps, 'on-failure': 'rollback' };
    return lab.rolledOut({ policies, answer, ratePerSecond: 200 }, namespace);
  }

  it('goes back by itself where the latency is above its limit, and no request fails', async () => {
    const shop = await start('weight 20%; wait 2s; check latency; weight 50%', { condition: '< 30' });
    await shop.setImage('web:2');
    await shop.weigh('80/20');
    await shop.weigh('100/0');
    await shop.settledAt('web:1');
    expect(shop.all.byImage['web:2']).toBeGreaterThan(0);
    expect(shop.all.failures).toEqual({});
  });

  it('with 1 % of the requests and two pods is aborted by a comparison of latencies, and no request fails', async () => {
    const compare = { worse: 'increase', tolerance: '25%', window: '1m', least: 8 };
    const shop = await start('2; weight 1%; check latency; weight 50%', { compare });
    await shop.setImage('web:2');
    await shop.weigh('99/1');
    expect((await shop.pods()).filter((pod) => imageOf(pod) === 'web:2')).toHaveLength(2);
    await shop.weigh('100/0');
    expect(measurements.count('web:2')).toBeGreaterThanOrEqual(8);
    await shop.settledAt('web:1');
    expect(shop.all.failures).toEqual({});
    const { annotations = {} } = (await shop.deployment()).metadata;
    expect(annotations['rollkeeper.dev/failed']).toContain('latency');
  });
});
