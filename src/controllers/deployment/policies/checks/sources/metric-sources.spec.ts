import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { parseCheck } from '../check-definition.js';
import type { IncomingAnswer, OutgoingRequest } from '../common/http-sender.js';
import { measureMetric } from '../measure-metric.js';
import { NoAnswerError } from '../common/no-answer-error.js';
import type { CheckSubject } from '../common/subject.js';
import { METRIC_KINDS } from './metric-sources.js';

const NOW_MS = Date.UTC(2026, 10, 28, 12);
const SUBJECT: CheckSubject = {
  ...{ check: 'slo', namespace: 'shop', name: 'web', revision: '3', replicaSet: 'web-1', hash: '1' },
  stable: { revision: '2', replicaSet: 'web-0', hash: '0' },
  step: 2,
};
const KEY_PAIR = generateKeyPairSync('rsa', { modulusLength: 2048 });

/** An RSA key of 8192 bits, made of numbers that are no primes: to make a real one takes seconds. */
const HUGE_KEY = {
  ...{ kty: 'RSA', n: bytes(1024), e: 'AQAB', d: bytes(1024) },
  ...{ p: bytes(512), q: bytes(512), dp: bytes(512), dq: bytes(512), qi: bytes(512) },
};

function bytes(count: number): string {
  return Buffer.alloc(count, 0xff).toString('base64url');
}

const SECRETS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  datadog: { 'api-key': 'api', 'app-key': 'app' },
  'new-relic': { 'api-key': 'NRAK-1' },
  aws: { 'access-key-id': 'AKIDEXAMPLE', 'secret-access-key': 'wJalr', 'session-token': 'temporary' },
  google: serviceAccountOf(KEY_PAIR.privateKey),
  ec: serviceAccountOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
  huge: serviceAccountOf(createPrivateKey({ key: HUGE_KEY, format: 'jwk' })),
  grafana: { token: 't0ken' },
};

function serviceAccountOf(key: KeyObject): Readonly<Record<string, string>> {
  const account = {
    client_email: 'rollkeeper@project.iam.gserviceaccount.com',
    private_key: key.export({ type: 'pkcs8', format: 'pem' }),
  };
  return { 'service-account.json': JSON.stringify(account) };
}

/** The answers of each server, in the form that its documentation shows. */
const ANSWERS = JSON.parse(
  readFileSync(new URL('metric-answers.fixture.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, { readonly status: number; readonly body: unknown }>>;

/** Answers with twelve samples, and with none. */
const SERIES = Object.fromEntries(
  Object.entries({ slow: 0.5, fast: 0.1, none: undefined }).flatMap(([name, value]) => {
    const times =
      value === undefined ? [] : Array.from({ length: 12 }, (_, index) => NOW_MS / 1000 - 12 + index);
    const values = times.map((time) => [time, String(value)]);
    const datapoints = times.map((time) => [value, time]);
    const pointlist = times.map((time) => [time * 1000, value]);
    const data = { resultType: 'matrix', result: [{ metric: {}, values }] };
    return [
      [`matrix-${name}`, { status: 200, body: { status: 'success', data } }],
      [`render-${name}`, { status: 200, body: [{ target: 'latency', datapoints }] }],
      [`datadog-series-${name}`, { status: 200, body: { status: 'ok', series: [{ pointlist }] } }],
    ];
  }),
) as Readonly<Record<string, { readonly status: number; readonly body: unknown }>>;

function answerOf(name: string): IncomingAnswer {
  const answer = SERIES[name] ?? ANSWERS[name];
  if (!answer) throw new Error(`there is no answer ${name}`);
  const { body, status } = answer;
  return { status, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

async function measured(
  definition: unknown,
  answers: readonly (string | IncomingAnswer)[],
  subject: CheckSubject = SUBJECT,
) {
  const sent: OutgoingRequest[] = [];
  const parsed = parseCheck(JSON.stringify(definition));
  if ('problem' in parsed) throw new Error(parsed.problem);
  const { check } = parsed;
  if (check.kind === 'job' || check.kind === 'webhook') throw new Error('this is no metric');
  const left = [...answers];
  const result = await measureMetric(check.metric, subject, {
    clock: { now: () => NOW_MS },
    signal: new AbortController().signal,
    sender: {
      send: (request) => {
        sent.push(request);
        const next = left.shift() ?? '';
        return Promise.resolve(typeof next === 'string' ? answerOf(next) : next);
      },
    },
    secrets: {
      read: ({ key, name, url }) => {
        if (new URL(url).host === 'elsewhere.example.com')
          return Promise.reject(new NoAnswerError(`Secret ${name} may not be sent there`));
        const value = SECRETS[name]?.[key];
        return value === undefined
          ? Promise.reject(new NoAnswerError(`Secret ${name} has no key ${key}`))
          : Promise.resolve(value);
      },
    },
  });
  return { result, sent };
}

const condition = '< 0.05';
const DEFINITIONS = {
  gateway: {
    ...{ address: 'http://prometheus:9090', implementation: 'istio', measures: 'success-rate' },
    condition: '< 0.1',
  },
  web: {
    url: 'https://metrics.example.com/api/{{namespace}}/errors?app={{name}}',
    headers: { authorization: { secret: 'grafana', key: 'token', prefix: 'Bearer ' }, 'x-team': 'shop' },
    'json-path': '$.data.errorRate',
    condition,
  },
  datadog: { site: 'datadoghq.eu', query: 'avg:errors{app:{{name}}}', secret: 'datadog', condition },
  'new-relic': {
    ...{ account: 7, region: 'eu', secret: 'new-relic', condition },
    query: "SELECT percentage(count(*), WHERE error IS true) FROM Transaction WHERE appName = '{{name}}'",
  },
  cloudwatch: {
    ...{ region: 'eu-central-1', secret: 'aws', temporary: true, condition },
    queries: [
      {
        Id: 'errors',
        MetricStat: {
          Metric: {
            Namespace: 'Shop',
            MetricName: 'Errors',
            Dimensions: [{ Name: 'app', Value: '{{name}}' }],
          },
          Period: 60,
          Stat: 'Average',
        },
      },
    ],
  },
  influxdb: {
    address: 'http://influx:8086',
    headers: { authorization: { secret: 'grafana', key: 'token', prefix: 'Token ' } },
    ...{ org: 'shop', flux: 'from(bucket: "shop") |> filter(fn: (r) => r.app == "{{name}}")', condition },
  },
  graphite: { address: 'http://graphite', target: 'shop.{{name}}.errors', condition },
  'google-cloud-monitoring': {
    ...{ project: 'shop-1', query: 'errors{app="{{name}}"}', secret: 'google', condition },
  },
  prometheus: { address: 'http://p:9090', query: 'errors{app="{{name}}"}', condition },
} as const;

describe('the sources of metrics', () => {
  it('all have an answer here', () => {
    expect(Object.keys(DEFINITIONS).sort()).toEqual([...METRIC_KINDS].sort());
  });

  it.each<[keyof typeof DEFINITIONS, readonly string[], number]>([
    ['prometheus', ['prometheus'], 0.02],
    ['gateway', ['prometheus'], 0.02],
    ['web', ['web'], 0.02],
    ['datadog', ['datadog'], 0.02],
    ['new-relic', ['new-relic'], 0.02],
    ['cloudwatch', ['cloudwatch'], 0.02],
    ['influxdb', ['influxdb-flux'], 0.02],
    ['graphite', ['graphite'], 0.02],
    ['google-cloud-monitoring', ['google-token', 'prometheus'], 0.02],
  ])('%s gives the newest value of its documented answer', async (kind, answers, value) => {
    const { result } = await measured({ [kind]: DEFINITIONS[kind] }, answers);
    expect(result).toEqual({ verdict: 'passed', value });
  });

  it.each<[keyof typeof DEFINITIONS, readonly string[], string]>([
    ['prometheus', ['prometheus-refusal'], 'Prometheus: answered 400 (bad_data)'],
    ['web', ['refusal'], 'the web check: answered 403'],
    ['web', ['page'], 'the web check: answered 200, and no JSON'],
    ['web', ['nothing'], 'the web check: the answer has nothing at json-path'],
    ['datadog', ['datadog-refusal'], 'Datadog: the query was refused'],
    ['datadog', ['datadog-nothing'], 'Datadog: the query found no series'],
    ['datadog', ['refusal'], 'Datadog: answered 403'],
    ['new-relic', ['new-relic-refusal'], 'New Relic: the query was refused'],
    ['new-relic', ['new-relic-two'], 'New Relic: the results have several numbers: name one by field'],
    ['cloudwatch', ['cloudwatch-refusal'], 'CloudWatch: answered 400 (InvalidParameterValue)'],
    ['cloudwatch', ['cloudwatch-forbidden'], 'CloudWatch: a result has (Forbidden)'],
    ['cloudwatch', ['cloudwatch-nothing'], 'CloudWatch: the query found no series'],
    ['influxdb', ['influxdb-refusal'], 'InfluxDB: answered 400'],
    ['influxdb', ['influxdb-error'], 'InfluxDB: the query failed'],
    ['graphite', ['graphite-nothing'], 'Graphite: the query found no series'],
    ['google-cloud-monitoring', ['refusal'], 'Google Cloud Monitoring: answered 403'],
    ['google-cloud-monitoring', ['nothing'], 'Google Cloud Monitoring: no token was issued'],
  ])('%s is unknown by the answers %j', async (kind, answers, message) => {
    const { result } = await measured({ [kind]: DEFINITIONS[kind] }, answers);
    expect(result).toEqual({ verdict: 'unknown', message });
  });

  it('judge each series, and name the value that is not right', async () => {
    const { result } = await measured({ graphite: DEFINITIONS.graphite }, ['graphite-two']);
    expect(result).toEqual({ verdict: 'failed', value: 0.5, message: '0.5 is not < 0.05' });
  });

  it('send what their servers ask for', async () => {
    const web = await measured({ web: DEFINITIONS.web }, ['web']);
    expect(web.sent).toEqual([
      {
        ...{ method: 'GET', url: 'https://metrics.example.com/api/shop/errors?app=web', timeoutMs: 5000 },
        headers: { authorization: 'Bearer t0ken', 'x-team': 'shop' },
      },
    ]);
    const datadog = await measured({ datadog: DEFINITIONS.datadog }, ['datadog']);
    const { origin, pathname, searchParams } = new URL(datadog.sent[0]?.url ?? '');
    expect(`${origin}${pathname}`).toBe('https://api.datadoghq.eu/api/v1/query');
    expect(Object.fromEntries(searchParams)).toEqual({
      query: 'avg:errors{app:web}',
      to: String(NOW_MS / 1000),
      from: String(NOW_MS / 1000 - 300),
    });
    expect(datadog.sent[0]?.headers).toEqual({ 'dd-api-key': 'api', 'dd-application-key': 'app' });
    const newRelic = await measured({ 'new-relic': DEFINITIONS['new-relic'] }, ['new-relic']);
    expect(newRelic.sent[0]).toMatchObject({ method: 'POST', url: 'https://api.eu.newrelic.com/graphql' });
    expect(JSON.parse(newRelic.sent[0]?.body ?? '')).toMatchObject({
      variables: { account: 7, nrql: expect.stringContaining("appName = 'web'") as string },
    });
    const flux = await measured({ influxdb: DEFINITIONS.influxdb }, ['influxdb-flux']);
    expect(flux.sent[0]).toMatchObject({
      url: 'http://influx:8086/api/v2/query?org=shop',
      headers: { authorization: 'Token t0ken', 'content-type': 'application/vnd.flux' },
      body: 'from(bucket: "shop") |> filter(fn: (r) => r.app == "web")',
    });
    const graphite = await measured({ graphite: DEFINITIONS.graphite }, ['graphite']);
    expect(graphite.sent[0]?.url).toBe(
      'http://graphite/render?target=shop.web.errors&from=-300s&until=now&format=json',
    );
  });

  it('sign a request to CloudWatch, with the token of temporary credentials', async () => {
    const { sent } = await measured({ cloudwatch: DEFINITIONS.cloudwatch }, ['cloudwatch']);
    const [request] = sent;
    expect(request).toMatchObject({ method: 'POST', url: 'https://monitoring.eu-central-1.amazonaws.com/' });
    expect(request?.headers).toMatchObject({
      'x-amz-target': 'GraniteServiceVersion20100801.GetMetricData',
      'x-amz-date': '20261128T120000Z',
      'x-amz-security-token': 'temporary',
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20261128\/eu-central-1\/monitoring\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target, Signature=[0-9a-f]{64}$/,
      ) as string,
    });
    expect(JSON.parse(request?.body ?? '')).toMatchObject({
      ...{ EndTime: NOW_MS / 1000, StartTime: NOW_MS / 1000 - 300, ScanBy: 'TimestampDescending' },
      MetricDataQueries: [{ MetricStat: { Metric: { Dimensions: [{ Name: 'app', Value: 'web' }] } } }],
    });
  });

  it('exchange the key of a Google service account for a token, and never send the key', async () => {
    const kind = 'google-cloud-monitoring';
    const { sent } = await measured({ [kind]: DEFINITIONS[kind] }, ['google-token', 'prometheus']);
    const [exchange, query] = sent;
    expect(exchange?.url).toBe('https://oauth2.googleapis.com/token');
    const assertion = new URLSearchParams(exchange?.body).get('assertion') ?? '';
    const [head = '', claims = ''] = assertion
      .split('.')
      .map((part) => Buffer.from(part, 'base64url').toString());
    expect(JSON.parse(head)).toEqual({ alg: 'RS256', typ: 'JWT' });
    expect(JSON.parse(claims)).toEqual({
      ...{ iss: 'rollkeeper@project.iam.gserviceaccount.com', aud: 'https://oauth2.googleapis.com/token' },
      ...{ scope: 'https://www.googleapis.com/auth/monitoring.read' },
      ...{ iat: NOW_MS / 1000, exp: NOW_MS / 1000 + 300 },
    });
    expect(query?.url).toBe(
      `https://monitoring.googleapis.com/v1/projects/shop-1/location/global/prometheus/api/v1/query?query=${encodeURIComponent('errors{app="web"}')}`,
    );
    expect(query?.headers).toEqual({ authorization: 'Bearer ya29.token' });
    expect(JSON.stringify(sent)).not.toContain('PRIVATE KEY');
  });

  it('send no token of a Google service account to a host that its Secret does not allow', async () => {
    const kind = 'google-cloud-monitoring';
    const elsewhere = { ...DEFINITIONS[kind], address: 'https://elsewhere.example.com' };
    const { result, sent } = await measured({ [kind]: elsewhere }, ['google-token', 'prometheus']);
    expect(result).toMatchObject({
      verdict: 'unknown',
      message: expect.stringContaining('may not be sent') as string,
    });
    expect(sent).toEqual([]);
  });

  it.each(['ec', 'huge'])('sign by no %s key of a Google service account', async (secret) => {
    const kind = 'google-cloud-monitoring';
    const { result, sent } = await measured({ [kind]: { ...DEFINITIONS[kind], secret } }, []);
    expect(result).toMatchObject({
      verdict: 'unknown',
      message: expect.stringContaining('no RSA key') as string,
    });
    expect(sent).toEqual([]);
  });

  it('look for the columns of a table once, however many rows it has', async () => {
    const header = `${'x,'.repeat(1000)}result,table,_value`;
    const body = [header, ...Array.from({ length: 500 }, () => 'y')].join('\n');
    const indexOf = vi.spyOn(Array.prototype, 'indexOf');
    const { result } = await measured({ influxdb: DEFINITIONS.influxdb }, [{ status: 200, body }]);
    const looks = indexOf.mock.calls.filter(([name]) => name === '_value').length;
    indexOf.mockRestore();
    expect(result).toEqual({ verdict: 'unknown', message: 'InfluxDB: the value is NaN' });
    expect(looks).toBe(1);
  });

  it('take InfluxQL as well, and the field of a New Relic row that is named', async () => {
    const influxql = {
      address: 'http://influx',
      database: 'shop',
      influxql: 'SELECT last(rate) FROM errors',
      condition,
    };
    expect((await measured({ influxdb: influxql }, ['influxdb-influxql'])).result).toMatchObject({
      value: 0.02,
    });
    const named = { ...DEFINITIONS['new-relic'], field: 'percentile.duration.95', condition: '< 1' };
    expect((await measured({ 'new-relic': named }, ['new-relic-percentile'])).result).toMatchObject({
      value: 0.31,
    });
  });

  it.each([
    [
      { web: { ...DEFINITIONS.web, headers: { Host: 'evil' } } },
      'web.headers.Host: belongs to the connection',
    ],
    [
      { web: { ...DEFINITIONS.web, headers: { 'a b': 'x' } } },
      'web.headers.a b: is not the name of a header',
    ],
    [
      { web: { ...DEFINITIONS.web, url: 'https://{{name}}.example.com' } },
      'web.url: has a variable in its host',
    ],
    [{ web: { ...DEFINITIONS.web, 'json-path': '$[' } }, 'web.json-path: "$[" is not a path'],
    [{ web: { ...DEFINITIONS.web, body: '{}' } }, 'web.body: needs method: POST'],
    [{ influxdb: { address: 'http://i', org: 'a', condition } }, 'influxdb: needs either org and flux'],
    [{ datadog: { ...DEFINITIONS.datadog, secret: 'A' } }, 'datadog.secret: is not the name of a Secret'],
    [{ datadog: { ...DEFINITIONS.datadog, site: 'a/b' } }, 'datadog.site: is not a site'],
    [
      { cloudwatch: { ...DEFINITIONS.cloudwatch, queries: [{ Id: '{{x}}' }] } },
      '{{x}} is not one of the variables',
    ],
    [{ 'new-relic': { ...DEFINITIONS['new-relic'], account: 'x' } }, 'new-relic.account: is not the number'],
  ])('name what is wrong with %j', (definition, problem) => {
    const parsed = parseCheck(JSON.stringify(definition));
    expect('problem' in parsed ? parsed.problem : 'none').toContain(problem);
  });
});
