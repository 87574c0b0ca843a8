import { describe, expect, it } from 'vitest';
import { parseCheck } from '../check-definition.js';
import type { OutgoingRequest } from '../common/http-sender.js';
import { measureMetric } from '../measure-metric.js';
import type { CheckSubject } from '../common/subject.js';

const SUBJECT: CheckSubject = {
  ...{ check: 'slo', namespace: 'shop', name: 'web', revision: '3', replicaSet: 'web-1', hash: '1' },
  stable: { revision: '2', replicaSet: 'web-0', hash: '0' },
};
const SERVER = { address: 'http://prometheus:9090' };

/** An answer in the form of https://prometheus.io/docs/prometheus/latest/querying/api/. */
function answerOf(data: object): { readonly status: number; readonly body: string } {
  return { status: 200, body: JSON.stringify({ status: 'success', data }) };
}
const vectorOf = (value: string) =>
  answerOf({ resultType: 'vector', result: [{ metric: {}, value: [1_435_781_451.781, value] }] });
const matrixOf = (value: string) => {
  const values = Array.from({ length: 12 }, (_, index) => [1_435_781_430 + index * 15, value]);
  return answerOf({ resultType: 'matrix', result: [{ metric: {}, values }] });
};

async function measured(gateway: object, answers: readonly { status: number; body: string }[]) {
  const parsed = parseCheck(JSON.stringify({ gateway: { ...SERVER, ...gateway } }));
  if ('problem' in parsed) throw new Error(parsed.problem);
  if (!('metric' in parsed.check)) throw new Error('this is no metric');
  const left = [...answers];
  const sent: string[] = [];
  const send = ({ url }: OutgoingRequest) => {
    sent.push(new URL(url).searchParams.get('query') ?? '');
    return Promise.resolve(left.shift() ?? { status: 503, body: '' });
  };
  const result = await measureMetric(parsed.check.metric, SUBJECT, {
    clock: { now: () => Date.UTC(2026, 10, 28) },
    signal: new AbortController().signal,
    sender: { send },
    secrets: { read: () => Promise.reject(new Error('no Secret is read')) },
  });
  return { result, sent };
}

const RATE = { measures: 'success-rate', condition: '>= 0.99' };
const LATENCY = { measures: 'latency', condition: '< 500' };

describe('a check of what a gateway reports', () => {
  it.each([
    [
      'istio',
      'sum(rate(istio_requests_total{reporter="source",destination_service_namespace="shop",destination_service_name="web-canary",response_code!~"5.*"}[60s])) / sum(rate(istio_requests_total{reporter="source",destination_service_namespace="shop",destination_service_name="web-canary"}[60s]))',
      'histogram_quantile(0.99, sum by (le) (rate(istio_request_duration_milliseconds_bucket{reporter="source",destination_service_namespace="shop",destination_service_name="web-canary"}[60s])))',
    ],
    [
      'linkerd',
      'sum(rate(outbound_http_route_backend_response_statuses_total{backend_namespace="shop",backend_name="web-canary",http_status!~"5.*",error=""}[60s])) / sum(rate(outbound_http_route_backend_response_statuses_total{backend_namespace="shop",backend_name="web-canary"}[60s]))',
      '1000 * histogram_quantile(0.99, sum by (le) (rate(outbound_http_route_backend_response_duration_seconds_bucket{backend_namespace="shop",backend_name="web-canary"}[60s])))',
    ],
    [
      'traefik',
      'sum(rate(traefik_service_requests_total{service=~"shop-web-canary(-https?)?-[0-9]+@kubernetesgateway",code!~"5.*"}[60s])) / sum(rate(traefik_service_requests_total{service=~"shop-web-canary(-https?)?-[0-9]+@kubernetesgateway"}[60s]))',
      '1000 * histogram_quantile(0.99, sum by (le) (rate(traefik_service_request_duration_seconds_bucket{service=~"shop-web-canary(-https?)?-[0-9]+@kubernetesgateway"}[60s])))',
    ],
    [
      'envoy-gateway',
      'sum(rate(envoy_cluster_upstream_rq_xx{envoy_cluster_name="httproute/shop/web/rule/0/backend/1",envoy_response_code_class!="5"}[60s])) / sum(rate(envoy_cluster_upstream_rq_xx{envoy_cluster_name="httproute/shop/web/rule/0/backend/1"}[60s]))',
      'histogram_quantile(0.99, sum by (le) (rate(envoy_cluster_upstream_rq_time_bucket{envoy_cluster_name="httproute/shop/web/rule/0/backend/1"}[60s])))',
    ],
  ])('asks %s for the requests to the canary Service', async (implementation, rate, duration) => {
    const good = await measured({ implementation, ...RATE }, [vectorOf('0.9985')]);
    expect(good).toEqual({ sent: [rate], result: { verdict: 'passed', value: 0.9985 } });
    const slow = await measured({ implementation, ...LATENCY }, [vectorOf('812.5')]);
    expect(slow.sent).toEqual([duration]);
    expect(slow.result).toMatchObject({ verdict: 'failed', value: 812.5 });
  });

  it.each([
    ['no request', 'NaN', 'the value is NaN'],
    ['no series', undefined, 'the query found no series'],
  ])('knows nothing where there is %s', async (_case, value, why) => {
    const answer = value === undefined ? answerOf({ resultType: 'vector', result: [] }) : vectorOf(value);
    const { result } = await measured({ implementation: 'istio', ...RATE }, [answer]);
    expect(result).toEqual({ verdict: 'unknown', message: `Prometheus: ${why}` });
  });

  it('compares the canary Service with the stable one', async () => {
    const compare = { worse: 'increase', tolerance: '25%' };
    const gateway = { implementation: 'istio', measures: 'latency', quantile: '95%', compare };
    const { result, sent } = await measured(gateway, [matrixOf('240'), matrixOf('100')]);
    expect(result).toMatchObject({ verdict: 'failed' });
    expect(sent.map((query) => /destination_service_name="([^"]*)"/.exec(query)?.[1])).toEqual([
      'web-canary',
      'web-stable',
    ]);
    expect(sent[0]).toContain('histogram_quantile(0.95,');
    const same = await measured(gateway, [matrixOf('104'), matrixOf('100')]);
    expect(same.result).toMatchObject({ verdict: 'passed' });
  });

  it('asks for Services and clusters of other names, which no text can leave', async () => {
    const named = { canary: 'shop"} or vector(1) #', route: '{{name}}-route', rule: 2 };
    const { sent } = await measured({ implementation: 'istio', ...RATE, ...named }, [vectorOf('1')]);
    expect(sent[0]).toContain('destination_service_name="shop___or_vector_1___"');
    const backends = { canary: 0, stable: 1 };
    const envoy = await measured({ implementation: 'envoy-gateway', ...RATE, ...named, backends }, [
      vectorOf('1'),
    ]);
    expect(envoy.sent[0]).toContain('"httproute/shop/web-route/rule/2/backend/0"');
  });

  it.each([
    [{ implementation: 'nginx', ...RATE }, 'gateway.implementation: is not one of istio'],
    [
      { implementation: 'istio', measures: 'errors', condition: '< 1' },
      'is neither success-rate nor latency',
    ],
    [{ implementation: 'istio', ...LATENCY, quantile: '100%' }, 'is not a percentage between 0% and 100%'],
    [{ implementation: 'istio', measures: 'latency' }, 'needs either condition or compare'],
  ])('is refused as %j', (gateway, why) => {
    const parsed = parseCheck(JSON.stringify({ gateway: { ...SERVER, ...gateway } }));
    expect('problem' in parsed ? parsed.problem : '').toContain(why);
  });
});
