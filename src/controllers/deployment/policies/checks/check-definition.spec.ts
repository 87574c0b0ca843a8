import { describe, expect, it } from 'vitest';
import { parseCheck } from './check-definition.js';
import { parseCheckNames } from './check-names.js';
import { meets, parseCondition, renderCondition } from './common/condition.js';
import { fillQuery } from './common/query-variables.js';

const PROMETHEUS = { address: 'http://p:9090/', query: 'up', condition: '>= 99.5' };
const POD = { spec: { template: { spec: { containers: [] } } } };

function problemOf(value: unknown): string {
  const parsed = parseCheck(JSON.stringify(value));
  return 'problem' in parsed ? parsed.problem : 'none';
}

describe('the definition of a check', () => {
  it('is YAML or JSON, with defaults', () => {
    expect(parseCheck('prometheus:\n  address: http://p:9090/\n  query: up\n  condition: ">= 99.5"')).toEqual(
      {
        check: {
          kind: 'prometheus',
          metric: {
            ...{ title: 'Prometheus', urls: ['http://p:9090'], timeoutMs: 5000 },
            condition: { operator: '>=', bound: 99.5 },
            valuesOf: expect.any(Function) as unknown,
          },
          ...{ intervalMs: 30_000, count: 1, failureLimit: 0, unknown: 'hold', giveUpAfterMs: undefined },
          mode: 'enforce',
        },
      },
    );
    expect(parseCheck('{"webhook": {"url": "https://ci/x", "expect": [200, "202-204"]}}')).toMatchObject({
      check: {
        ...{ kind: 'webhook', retries: 3, timeoutMs: 5000, intervalMs: 60_000 },
        expect: [
          { from: 200, to: 200 },
          { from: 202, to: 204 },
        ],
      },
    });
    expect(parseCheck(JSON.stringify({ job: { template: POD, deadline: '2m' } }))).toMatchObject({
      check: { kind: 'job', deadlineMs: 120_000, intervalMs: 5000 },
    });
  });

  it.each([
    [{}, 'needs one of prometheus, gateway, web, datadog,'],
    [{ prometheus: PROMETHEUS, job: { template: POD } }, 'has prometheus and job'],
    [{ prometheus: { ...PROMETHEUS, condition: '0.01' } }, 'prometheus.condition: "0.01" is not a condition'],
    [
      { prometheus: { ...PROMETHEUS, query: '{{pod}}' } },
      'prometheus.query: {{pod}} is not one of namespace,',
    ],
    [
      { prometheus: { ...PROMETHEUS, timeout: '11s' } },
      'prometheus.timeout: "11s" is not a duration between',
    ],
    [{ prometheus: { ...PROMETHEUS, address: 'file:///x' } }, 'prometheus.address: is neither an http'],
    [{ prometheus: { ...PROMETHEUS, address: 'http://a:b@p' } }, 'has a user or a password'],
    [{ prometheus: { ...PROMETHEUS, address: 'http://p?x=1' } }, 'has a query of its own'],
    [{ prometheus: { ...PROMETHEUS, address: 'http://p#' } }, 'has a query of its own'],
    [{ prometheus: { ...PROMETHEUS, address: 'http://p\u0001' } }, 'begins or ends with white space'],
    [{ prometheus: { ...PROMETHEUS, query: '\ud800' } }, 'prometheus.query: has half of a character'],
    [{ prometheus: PROMETHEUS, interval: '10ms' }, 'interval: "10ms" is not a duration'],
    [{ prometheus: PROMETHEUS, count: 2, 'failure-limit': 2 }, 'failure-limit: is not below count'],
    [{ prometheus: PROMETHEUS, unknown: 'pass' }, 'unknown: '],
    [{ prometheus: PROMETHEUS, count: 0 }, 'count: '],
    [{ webhook: { url: 'https://ci/x#y' } }, 'webhook.url: has a fragment'],
    [{ webhook: { url: 'https://ci', expect: 'ok' } }, 'webhook.expect: '],
    [{ job: { template: {} } }, 'job.template: has no spec'],
    [
      { job: { template: { spec: { ...POD.spec, ttlSecondsAfterFinished: 0 } } } },
      'ttlSecondsAfterFinished below 300',
    ],
    [{ job: { template: POD }, count: 2 }, 'count: is 1 for a Job'],
    [[], 'is no object'],
  ])('names what is wrong with %j', (value, problem) => {
    expect(problemOf(value)).toContain(problem);
  });

  it('may have white space around a URL, which does not become a part of it', () => {
    const parsed = parseCheck(JSON.stringify({ prometheus: { ...PROMETHEUS, address: ' http://p:9090/ ' } }));
    expect(parsed).toMatchObject({ check: { metric: { urls: ['http://p:9090'] } } });
  });

  it('is read at once if its query opens a variable and never closes it', () => {
    const query = `{{${' '.repeat(4000)}`;
    const parsed = parseCheck(
      JSON.stringify({ prometheus: { address: 'http://p', query, condition: '< 1' } }),
    );
    expect(parsed).toMatchObject({ check: { kind: 'prometheus' } });
  });

  it('is refused if it is no YAML, is too long, or unfolds without end', () => {
    expect(parseCheck('a: [')).toMatchObject({
      problem: expect.stringContaining('neither YAML nor JSON') as string,
    });
    expect(parseCheck('x'.repeat(70_000))).toMatchObject({ problem: 'has more than 16384 characters' });
    const keys = Array.from({ length: 4000 }, (_, index) => `k${index}`).join(',');
    expect(parseCheck(`{${keys}}`)).toMatchObject({ problem: 'has more than 16384 characters' });
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x,x]',
      ...'bcdefg'
        .split('')
        .map((each, index) => `${each}: &${each} [${Array(10).fill(`*${'abcdefg'[index]}`).join(',')}]`),
    ];
    expect('problem' in parseCheck(bomb.join('\n'))).toBe(true);
  });
});

describe('names of checks', () => {
  it('are keys of a ConfigMap, at most ten, each once', () => {
    expect(parseCheckNames('a, b.c ,a')).toEqual(['a', 'b.c']);
    expect(parseCheckNames('a b')).toContain('names a check "a b"');
    expect(parseCheckNames('')).toContain('names a check ""');
    expect(parseCheckNames(Array.from({ length: 11 }, (_, index) => `c${index}`).join(','))).toContain(
      'the most are 10',
    );
  });
});

describe('a condition', () => {
  it.each([
    ['< 0.01', 0.009, true],
    ['<0.01', 0.01, false],
    ['<= 1e-2', 0.01, true],
    ['> -1', -1, false],
    ['== 3', 3, true],
    ['!= 3', 3, false],
  ])('%s of %d is %s', (text, value, expected) => {
    const condition = parseCondition(text);
    expect(condition && meets(value, condition)).toBe(expected);
  });

  it('is an operator and a number', () => {
    for (const text of ['0.01', '=< 1', '< one', '< 1 < 2', '']) expect(parseCondition(text)).toBeUndefined();
    const condition = parseCondition('>=99.5');
    expect(condition && renderCondition(condition)).toBe('>= 99.5');
  });
});

describe('variables of a query', () => {
  it('are filled in so that they stay inside their quotes', () => {
    const subject = {
      check: 'a"b\\',
      namespace: 'shop',
      name: 'web',
      revision: '3',
      replicaSet: 'web-1',
      hash: '1',
    };
    const query = 'x{ns="{{namespace}}",pod=~"{{ name }}-{{hash}}-.*",c="{{check}}",s="{{step}}"}';
    expect(fillQuery(query, subject)).toBe('x{ns="shop",pod=~"web-1-.*",c="a\\"b\\\\",s=""}');
    expect(fillQuery('{{check}}', { ...subject, check: '{{name}}' })).toBe('{{name}}');
  });
});
