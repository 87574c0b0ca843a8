import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot, ReplicaView } from '../../admin/server/index.js';
import { PLAIN } from '../../terminal/index.js';
import { decideApi } from './decide-api.js';
import { decideCertificates } from './decide-certificates.js';
import { decideLeader } from './decide-leader.js';
import { decideQueues } from './decide-queues.js';
import type { RedisServerFacts } from './decide-redis.js';
import { decideRedis } from './decide-redis.js';
import { decideCaches, decideReplicas } from './decide-replicas.js';
import { decideRights } from './decide-rights.js';
import type { RivalFacts } from './decide-rivals.js';
import { decideRivals, runsDeployments } from './decide-rivals.js';
import type { WebhookFacts } from './decide-webhooks.js';
import { concernsUs, decideWebhooks } from './decide-webhooks.js';
import type { Finding } from './finding.js';
import { answered, diagnosisOf, failure, notAsked, ok, skipped, warning } from './finding.js';
import { renderDiagnosis } from './render-diagnosis.js';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const DAY = 86_400_000;
const unanswered = (why: string) => ({ is: 'unanswered', why }) as const;

/** `failure: summary` of each. */
const said = (findings: readonly Finding[]): string[] =>
  findings.map(({ level, summary }) => `${level}: ${summary}`);

describe('findings about the API', () => {
  const facts = { url: 'https://api', version: 'v1.36.0', tookMs: 3, aheadMs: 400 };

  it('is its version, where all is well', () => {
    expect(said(decideApi(answered(facts)))).toEqual(['ok: https://api answers: Kubernetes v1.36.0']);
  });

  it.each([
    [
      'does not answer',
      unanswered('ECONNREFUSED'),
      'failure: the Kubernetes API does not answer: ECONNREFUSED',
    ],
    ['is too old', answered({ ...facts, version: 'v1.24.3' }), 'failure: https://api is Kubernetes v1.24.3'],
    [
      'is not ready',
      answered({ ...facts, notReady: 'these checks fail: etcd' }),
      'failure: https://api answers, but is not ready: these checks fail: etcd',
    ],
    ['is slow', answered({ ...facts, tookMs: 1500 }), 'warning: the API takes 1500 ms for its version'],
    [
      'is ahead',
      answered({ ...facts, aheadMs: 5000 }),
      'warning: the API server’s clock is 5 s ahead of this machine’s',
    ],
    [
      'is far behind',
      answered({ ...facts, aheadMs: -90_000 }),
      'failure: the API server’s clock is 90 s behind this machine’s',
    ],
  ])('names the trouble where it %s', (_, asked, says) => {
    expect(said(decideApi(asked)).at(-1)).toBe(says);
  });
});

describe('findings about the certificates of the connection', () => {
  it.each([
    ['nothing where they last, or cannot be seen', answered({ serverEndsAtMs: NOW + 15 * DAY }), []],
    ['nothing where the server does not answer', unanswered('ECONNREFUSED'), []],
    [
      'each that ends within two weeks',
      answered({ serverEndsAtMs: NOW + 13 * DAY, clientEndsAtMs: NOW + DAY }),
      [
        'warning: the API server’s certificate ends at 2026-01-14T12:00:00.000Z',
        'warning: the client certificate of the kubeconfig ends at 2026-01-02T12:00:00.000Z',
      ],
    ],
    [
      'that of the authority',
      answered({ authorityEndsAtMs: NOW + DAY }),
      ['warning: the certificate authority of the kubeconfig ends at 2026-01-02T12:00:00.000Z'],
    ],
    [
      'that one has ended',
      answered({ serverEndsAtMs: NOW - DAY }),
      ['failure: the API server’s certificate ended at 2025-12-31T12:00:00.000Z'],
    ],
  ])('is %s', (_, asked, says) => {
    expect(said(decideCertificates(asked, NOW))).toEqual(says);
  });
});

describe('findings about rights', () => {
  const right = { verb: 'update', group: 'apps', resource: 'deployments/status' };

  it('names each that is missing as kubectl auth can-i takes it', () => {
    const reviewed = answered([
      { right, allowed: false },
      { right: { verb: 'list', group: '', resource: 'pods', namespace: 'a' }, allowed: false },
      { right: { verb: 'get', group: '', resource: 'namespaces', name: 'kube-system' }, allowed: true },
    ]);
    const owners = [{ owner: 'deployment', subject: 'ops', reviewed } as const];
    expect(said(decideRights(answered({ owners, others: [], mayDoEverything: false })))).toEqual([
      'failure: ops may not: update deployments.apps --subresource=status, list pods -n a; the controller deployment needs them',
    ]);
  });

  it('tells an account that may not be asked about from one without rights', () => {
    const owners = [{ owner: 'replica', subject: 'ops', reviewed: unanswered('forbidden') } as const];
    expect(said(decideRights(answered({ owners, others: ['job'], mayDoEverything: false })))).toEqual([
      'warning: whether ops has the rights that a replica needs could not be checked: forbidden',
      'skipped: the rights of job are not checked one by one',
    ]);
  });
});

describe('findings about Redis', () => {
  const server: RedisServerFacts = {
    ...{ address: 'Redis at h:1', version: '7.4.0', mode: 'standalone', role: 'master' },
    ...{ evictionPolicy: 'noeviction', appendOnly: false, savesSnapshots: false, isLoading: false },
    ...{ lastSaveFailed: false, usedBytes: 1, limitBytes: 0, pingMs: 0.2, aheadMs: 1 },
  };
  const redis = (changes: Partial<RedisServerFacts>, keepsObjects = false) =>
    said(decideRedis({ servers: answered([{ ...server, ...changes }]), keepsObjects }));

  it('is how it answers, where all is well; beside a cluster nothing need be on disk', () => {
    expect(redis({})).toEqual([
      'ok: Redis at h:1 answers in 0.2 ms: version 7.4.0, noeviction, nothing on disk',
    ]);
  });

  it.each([
    ['evicts', { unfit: 'evicts keys', evictionPolicy: 'allkeys-lru' }, 'failure: Redis at h:1 evicts keys'],
    ['is slow', { pingMs: 20 }, 'warning: Redis at h:1 answers a ping in 20.0 ms'],
    ['is far too slow', { pingMs: 200 }, 'failure: Redis at h:1 answers a ping in 200.0 ms'],
    ['has another time', { aheadMs: -4000 }, 'warning: Redis at h:1 has a clock 4 s behind this machine’s'],
    ['is full', { usedBytes: 95, limitBytes: 100 }, 'warning: Redis at h:1 uses 95 % of its maxmemory'],
    [
      'cannot save',
      { lastSaveFailed: true },
      'failure: Redis at h:1 could not write its last snapshot or log',
    ],
  ])('names the trouble where it %s', (_, changes, says) => {
    expect(redis(changes)).toContain(says);
  });

  it('wants a log on disk where it keeps the objects themselves', () => {
    expect(redis({ appendOnly: true }, true)).toHaveLength(1);
    expect(redis({ savesSnapshots: true }, true)).toContain(
      'warning: Redis at h:1 keeps the objects of the API server, and writes only snapshots',
    );
    expect(redis({}, true)[0]).toMatch(/^failure: .*writes nothing to disk/);
  });

  it('is what the replicas say, where it is not asked itself', () => {
    const servers = notAsked('no --redis-url');
    const silent = { answers: false, silentSinceMs: NOW };
    expect(said(decideRedis({ servers, store: silent, keepsObjects: false }))).toEqual([
      'failure: Redis does not answer the replicas since 2026-01-01T12:00:00.000Z',
      'skipped: it was not checked directly: no --redis-url',
    ]);
  });
});

const replica = (identity: string, changes: Partial<ReplicaView> = {}): ReplicaView => ({
  ...{ identity, adminUrl: `http://${identity}`, pid: 1, startedAtMs: 0, reachable: true, leader: false },
  ...{ version: '1.0.0', optionsDigest: 'a'.repeat(64), controllers: [], running: [] },
  ...changes,
});
const snapshotOf = (...replicas: readonly ReplicaView[]): ClusterSnapshot => ({
  ...{ leader: 'r0', epoch: 3, store: { name: 'redis', answers: true }, replicas },
  lease: { holder: 'r0', epoch: 3, durationMs: 2500, renewedAtMs: NOW, remainingMs: 2000 },
});

describe('findings about replicas', () => {
  const of = (...replicas: readonly ReplicaView[]): string[] =>
    said(decideReplicas(answered(snapshotOf(...replicas)), NOW));

  it('is how many there are, where all is well', () => {
    expect(of(replica('r0'), replica('r1'))).toEqual(['ok: 2 replicas answer, all of version 1.0.0']);
  });

  it.each([
    ['r1 (http://r1) does not answer the others: timeout', { reachable: false, problem: 'timeout' }],
    ['replicas are of different versions: 1.0.0 (r0, r2), 1.1.0 (r1)', { version: '1.1.0' }],
    [
      'replicas run with different options: aaaaaaaa (r0, r2), bbbbbbbb (r1)',
      { optionsDigest: 'b'.repeat(64) },
    ],
    ['the clock of r1 is 3.0 s ahead of that of the queried replica', { aheadMs: 3000 }],
    ['the admin certificate of r1 ends at 2026-01-02T12:00:00.000Z', { certificateEndsAtMs: NOW + DAY }],
  ])('warns that %s', (says, changes) => {
    expect(of(replica('r0'), replica('r1', changes), replica('r2'))).toEqual([`warning: ${says}`]);
  });

  it('compares options of one version alone: another has others', () => {
    const other = replica('r1', { version: '1.1.0', optionsDigest: 'b' });
    expect(of(replica('r0'), other)).toHaveLength(1);
  });

  it('fails for a certificate that has ended, and for none that answers', () => {
    expect(of(replica('r0'), replica('r1', { certificateEndsAtMs: NOW }))[0]).toMatch(/^failure: /);
    expect(said(decideReplicas(unanswered('refused'), NOW))).toEqual([
      'failure: no replica answers: refused',
    ]);
  });

  it('names what their controllers cannot list, and which do not start without it', () => {
    const controller = { name: 'deployment', workers: 1, consuming: false, worksOn: 'all' } as const;
    const missing = { resource: 'pods', reason: 'forbidden' };
    const view = replica('r0', {
      controllers: [{ ...controller, waitsFor: [missing], unreadable: [missing] }],
    });
    expect(said(decideCaches(answered(snapshotOf(view))))).toEqual([
      'failure: deployment does not start on r0: it cannot list pods (forbidden)',
      'warning: deployment on r0 works without pods (forbidden)',
    ]);
  });
});

describe('findings about the leader', () => {
  const all = [replica('r0', { leader: true }), replica('r1')];
  const leader = (changes: Partial<ClusterSnapshot>, transitions: readonly string[] = []) =>
    said(
      decideLeader(
        answered({
          snapshot: { ...snapshotOf(...all), ...changes },
          leadership: {
            ...{ leader: true, leaderIdentity: 'r0', epoch: 3, lock: 'x' },
            transitions: transitions.map((at) => ({ who: 'r0', epoch: 1, why: 'late', at })),
          },
        }),
        NOW,
      ),
    );

  it('is who it is, where all is well', () => {
    expect(leader({})).toEqual(['ok: r0 leads, epoch 3, its lease expires in 2000 ms']);
  });

  it('names an end of the lease, several who lead, one who does not answer, and many changes', () => {
    expect(leader({ leader: undefined })).toEqual(['failure: no replica leads: the lease of r0 has ended']);
    expect(leader({ replicas: all.map((each) => ({ ...each, leader: true })) })).toEqual([
      'warning: r0 and r1 both report that they lead',
    ]);
    expect(leader({ replicas: [replica('r1')] })).toEqual([
      'warning: r0 has the lease, but no replica that answers reports that it leads',
    ]);
    const minutesAgo = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString();
    expect(leader({}, [20, 5, 4, 3, 2].map(minutesAgo))).toHaveLength(1);
    expect(leader({}, [6, 5, 4, 3, 2].map(minutesAgo))).toEqual([
      'warning: the leader changed 5 times in 15 minutes; last because: late',
    ]);
  });
});

describe('findings about queues', () => {
  const counts = { waiting: 2, active: 0, delayed: 0, parked: 0 };

  it('asks for no requeue of keys that a quota has refused, which comes by itself', () => {
    const of = (key: string, error: string) => ({ key, error, parkedAtMs: 1, retries: 9 });
    const quota = of('a/b', 'pods "b" is forbidden: exceeded quota: q');
    const remedyOf = (...parked: ReturnType<typeof of>[]) =>
      decideQueues(
        answered([{ controller: 'replicaset', counts: { ...counts, parked: parked.length }, parked }]),
      )[0]?.remedy;
    expect(remedyOf(quota)).toMatch(/^raise the ResourceQuota, .* retried by itself$/);
    expect(remedyOf(quota, of('c/d', 'no'))).toContain('rollkeeper queue requeue replicaset c/d');
  });

  it('names the keys that are parked with their errors, and how to go on', () => {
    const parked = [{ key: 'a/b', error: 'quota', parkedAtMs: 1, retries: 9 }];
    const findings = decideQueues(
      answered([{ controller: 'deployment', counts: { ...counts, parked: 2 }, parked }]),
    );
    expect(said(findings)).toEqual(['warning: 2 keys of deployment are parked: a/b (quota); 1 more']);
    expect(findings[0]?.remedy).toContain('rollkeeper queue requeue deployment a/b');
  });

  it('warns of many that wait, and is calm otherwise', () => {
    const queue = { controller: 'deployment', counts };
    expect(said(decideQueues(answered([queue])))).toEqual(['ok: no key is parked, 2 wait']);
    expect(said(decideQueues(answered([{ ...queue, counts: { ...counts, waiting: 1001 } }])))).toEqual([
      'warning: 1001 keys of deployment wait',
    ]);
  });
});

describe('findings about webhooks', () => {
  const webhook = {
    name: 'guard.example.com',
    rules: [{ apiGroups: [''], resources: ['pods'], operations: ['CREATE'] }],
    clientConfig: { service: { namespace: 'guard', name: 'guard' } },
  };
  const facts: WebhookFacts = { configuration: 'guard', webhook, service: { exists: true, ready: 1 } };
  const of = (changes: Partial<WebhookFacts>): string[] =>
    said(
      decideWebhooks(
        { webhooks: answered([{ ...facts, ...changes }]), tried: notAsked('asked not to') },
        NOW,
      ),
    ).filter((line) => !line.startsWith('skipped'));
  const PLACE = 'guard.example.com (guard)';

  it.each([
    ['pods', '', true],
    ['*', '', true],
    ['*/*', '*', true],
    ['deployments/status', 'apps', true],
    ['pods/exec', '', false],
    ['jobs', 'batch', false],
    ['pods', 'apps', false],
  ])('concerns those that see what the controllers write: %s of "%s": %s', (resource, group, expected) => {
    expect(concernsUs({ name: 'w', rules: [{ apiGroups: [group], resources: [resource] }] })).toBe(expected);
  });

  it('is nothing, where one answers', () => {
    expect(of({})).toEqual([
      'ok: one webhook sees Deployments, ReplicaSets or pods, and no problem was found',
    ]);
  });

  it('names one that refuses everything, and is milder where its failure is ignored', () => {
    const service = { exists: true, ready: 0 };
    expect(of({ service })).toEqual([
      `failure: ${PLACE}: no ready endpoint behind Service guard/guard, so every write that it sees is refused`,
    ]);
    expect(of({ service, webhook: { ...webhook, failurePolicy: 'Ignore' } })[0]).toMatch(
      /^warning: .*and then admitted$/,
    );
    expect(of({ service: { exists: false, ready: 0 } })[0]).toContain('there is no Service guard/guard');
  });

  it('names an authority that ends, a long timeout, and one that its own pods cannot do without', () => {
    expect(of({ authorityEndsAtMs: NOW - 1 })[0]).toMatch(/^failure: .*ended at/);
    expect(of({ authorityEndsAtMs: NOW + DAY })[0]).toMatch(/^warning: .*ends at/);
    expect(of({ authorityEndsAtMs: Number.NaN })[0]).toMatch(/^warning: .*no readable certificate/);
    expect(of({ webhook: { ...webhook, timeoutSeconds: 30 } })[0]).toContain('its timeout is 30 s');
    const service = { exists: true, ready: 1, namespaceLabels: { 'kubernetes.io/metadata.name': 'guard' } };
    expect(of({ service })[0]).toContain('it sees the pods of its own namespace guard');
    const namespaceSelector = {
      matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['guard'] }],
    };
    expect(of({ service, webhook: { ...webhook, namespaceSelector } })[0]).toMatch(/^ok: /);
  });

  const tried = (refusal?: { code: number; message: string }, tookMs = 5): string[] =>
    said(
      decideWebhooks(
        {
          webhooks: answered([]),
          tried: answered([{ kind: 'Pod', namespace: 'default', tookMs, refusal }]),
        },
        NOW,
      ),
    ).slice(1);

  it('tells a write that fails by an absent webhook from one that a policy refuses, and from a missing right', () => {
    expect(tried()).toEqual(['ok: a Pod would be accepted in namespace default (dry run)']);
    expect(tried(undefined, 2500)).toEqual(['warning: a Pod in namespace default (dry run) takes 2500 ms']);
    expect(tried({ code: 500, message: 'failed calling webhook "guard"' })[0]).toMatch(/^failure: /);
    expect(tried({ code: 403, message: 'admission webhook "guard" denied the request' })[0]).toMatch(
      /^warning: /,
    );
    expect(
      tried({ code: 403, message: 'pods is forbidden: User "a" cannot create resource "pods"' })[0],
    ).toMatch(/^skipped: /);
  });
});

describe('findings about other controllers for the same Deployments', () => {
  const facts: RivalFacts = {
    ...{ worksOnApps: true, sinceMs: NOW - DAY, writers: answered([]) },
    ...{ managerLease: answered(undefined), managerFlags: answered([]) },
  };
  const live = answered({ holder: 'm', renewedAtMs: NOW - 1000 });
  const of = (changes: Partial<RivalFacts>): string[] => said(decideRivals({ ...facts, ...changes }, NOW));

  it('names one that has written since the replicas started', () => {
    const writer = { key: 'a/b', manager: 'kube-controller-manager', atMs: NOW - 1000 };
    expect(of({ writers: answered([writer]) })).toEqual([
      'failure: kube-controller-manager writes the status of 1 Deployment too, since the replicas started: a/b',
    ]);
    expect(of({ writers: answered([{ ...writer, atMs: NOW - 2 * DAY }]), managerLease: live })).toEqual([
      'ok: kube-controller-manager runs, and leaves Deployments to these replicas',
    ]);
    expect(of({ writers: answered([{ ...writer, manager: 'rollkeeper' }]) })[0]).toMatch(/^ok: /);
  });

  it.each([
    [undefined, true],
    ['*', true],
    ['*,-deployment-controller', false],
    ['-deployment', false],
    ['-deployment-controller,deployment-controller', false],
    ['replicaset-controller', false],
    ['deployment-controller', true],
  ])('reads --controllers=%s as kube-controller-manager does: %s', (flag, expected) => {
    expect(runsDeployments(flag)).toBe(expected);
    const found = of({ managerLease: live, managerFlags: answered([flag]) });
    expect(found[0]?.startsWith('failure')).toBe(expected);
  });

  it('admits what cannot be seen', () => {
    expect(of({ managerLease: live })[0]).toMatch(/^warning: .*its flags are not visible/);
    const hidden = unanswered('forbidden');
    expect(of({ writers: hidden, managerLease: hidden })[0]).toMatch(/^skipped: /);
  });

  it('is nothing for an API that no other controller knows', () => {
    expect(of({ worksOnApps: false })[0]).toMatch(/^ok: /);
  });
});

describe('the report', () => {
  it('has a remedy below each trouble, and the sum at the end', () => {
    const findings = [
      ok('api', 'answers'),
      skipped('redis', 'was not asked', 'say where it is'),
      warning('leader', 'changes often', 'more CPU'),
      failure('rights', 'some are missing', 'grant them'),
    ];
    const diagnosis = diagnosisOf(findings);
    expect(diagnosis.result).toBe('failure');
    expect(renderDiagnosis(diagnosis, PLAIN)).toBe(
      [
        'ok       api       answers',
        'skipped  redis     was not asked',
        '                   → say where it is',
        'WARNING  leader    changes often',
        '                   → more CPU',
        'FAILURE  rights    some are missing',
        '                   → grant them',
        '',
        '1 failure, 1 warning; 1 check skipped.',
      ].join('\n'),
    );
    expect(renderDiagnosis(diagnosisOf([ok('api', 'answers')]), PLAIN)).toMatch(/Nothing is wrong\.$/);
  });
});
