import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newControllerRef } from '../../../src/machinery/kubernetes/index.js';
import { Chart } from '../support/chart.js';
import type { Values } from '../support/helm.js';
import { helm } from '../support/helm.js';
import type { Right } from '../support/needed-rights.js';
import {
  SRC,
  isGiven,
  rightsGivenBy,
  rightsNeededBy,
  rightsToWatch,
  textOf,
  unique,
} from '../support/needed-rights.js';
import {
  createDeploymentController,
  deploymentController,
} from '../../../src/controllers/deployment/index.js';
import type { Installation } from '../../../src/rollkeeper/cli/doctor/needed-rights.js';
import { createDaemonSetRollouts } from '../../../src/controllers/set-rollouts/index.js';
import { KNOWN_CONTROLLERS, neededRights } from '../../../src/rollkeeper/cli/doctor/needed-rights.js';
import { KIND_DIAGNOSES } from '../../../src/rollkeeper/insight/diagnose/index.js';
import { OBSTACLES } from '../../../src/runtime/controller/index.js';
import { namespaceController } from '../../../src/controllers/namespace/namespace-definition.js';
import {
  createReplicaSetController,
  replicaSetController,
} from '../../../src/controllers/replicaset/index.js';

const text = (rights: readonly Right[]): string[] => rights.map(textOf).sort();

const events = rightsNeededBy('client', 'events');
/** Budgets are read only for options that are off by default. */
const isBudget = ({ resource }: Right): boolean => resource.startsWith('poddisruptionbudgets');
/** Asked for where checks are measured, and not otherwise. */
const isOfChecks = ({ resource }: Right): boolean => ['configmaps', 'jobs'].includes(resource);
/** Asked for where requests of checks may have values of Secrets. */
const isSecret = ({ resource }: Right): boolean => resource === 'secrets';
const checks = rightsNeededBy('controllers', 'deployment', 'policies', 'checks').filter(isOfChecks);
/** Asked for where rollouts steer requests. */
const isOfTraffic = ({ group, resource, verb }: Right): boolean =>
  group === 'gateway.networking.k8s.io' ||
  resource === 'endpointslices' ||
  (resource === 'services' && verb === 'create');
/** Controllers beside that of Deployments, each for an option that is off by default. */
const BESIDE = ['drain', 'drift', 'eviction-responder'];
const allOfDeployments = readdirSync(join(SRC, 'controllers', 'deployment'))
  .filter((name) => ![...BESIDE, 'dist'].includes(name) && !name.endsWith('.spec.ts'))
  .flatMap((name) => rightsNeededBy('controllers', 'deployment', name));
const ofDeployments = allOfDeployments.filter(
  (right) => !isOfChecks(right) && !isSecret(right) && !isOfTraffic(right),
);
const isService = ({ resource }: Right): boolean => resource === 'services';
/** Asked for where pods are resized in place. */
const isOfResize = ({ resource, verb }: Right): boolean =>
  resource === 'pods/resize' ||
  (resource === 'deployments' && verb === 'patch') ||
  (resource === 'pods' && verb === 'get');
const deployment = unique([
  ...ofDeployments.filter((right) => !isService(right) && !isBudget(right) && !isOfResize(right)),
  ...rightsToWatch(deploymentController),
]);
const replicaSet = unique([
  ...rightsNeededBy('controllers', 'replicaset'),
  ...rightsNeededBy('controllers', 'shared', 'pods', 'pod-control.ts'),
  ...rightsToWatch(replicaSetController),
]);
const garbageCollector = rightsNeededBy('controllers', 'garbage-collector');
/**
 * Kinds that are watched while writes are refused. Roles are watched only by accounts that may read them, and the
 * chart's may not.
 */
const obstacles: readonly Right[] = OBSTACLES.filter(
  ({ type }) => type.group !== 'rbac.authorization.k8s.io',
).flatMap(({ type: { group, resource } }) => ['list', 'watch'].map((verb) => ({ group, resource, verb })));
const isNamespacedObstacle = ({ resource }: Right): boolean =>
  OBSTACLES.some(({ type }) => type.namespaced && type.resource === resource);
const namespace = unique([
  ...rightsNeededBy('controllers', 'namespace'),
  ...rightsToWatch(namespaceController),
]);
const lease = rightsNeededBy('runtime', 'leader-election').filter(({ resource }) => resource === 'leases');
const candidate = rightsNeededBy('runtime', 'leader-election').filter(
  ({ resource }) => resource !== 'leases',
);

/** The right to read the namespace kube-system alone, by which a replica knows its cluster. */
const identity = rightsNeededBy('runtime', 'operator', 'manager', 'cluster-guard.ts');

/**
 * An owner reference that blocks its owner's deletion needs the right to set that owner's finalizers, where the
 * cluster's admission (OwnerReferencesPermissionEnforcement) looks at it.
 */
const blocking: readonly Right[] = ['deployments/finalizers', 'replicasets/finalizers'].map((resource) => ({
  group: 'apps',
  resource,
  verb: 'update',
}));

describe('the rights that the code needs, as they are found in its sources', () => {
  it('are those of the requests that it makes', () => {
    expect(text(events)).toEqual(['create events', 'patch events']);
    expect(text(identity)).toEqual(['get namespaces']);
    expect(text(deployment)).toContain('update deployments/status.apps');
    expect(text(replicaSet)).toEqual(
      expect.arrayContaining([
        'create pods',
        'delete pods',
        'get replicasets.apps',
        'patch pods',
        'update replicasets/status.apps',
      ]),
    );
    expect(text(namespace)).toEqual(
      expect.arrayContaining([
        'delete *',
        'deletecollection *',
        'update namespaces/finalize',
        'watch namespaces',
      ]),
    );
    expect(text(garbageCollector)).toEqual(['delete *', 'get *', 'list *', 'patch *', 'watch *']);
    expect(text(candidate)).toEqual(
      ['create', 'delete', 'get', 'list', 'update', 'watch'].map(
        (verb) => `${verb} leasecandidates.coordination.k8s.io`,
      ),
    );
    expect(text(lease)).toEqual(
      ['create', 'get', 'list', 'update', 'watch'].map((verb) => `${verb} leases.coordination.k8s.io`),
    );
  });

  it('are of the parts that are looked at here, and of no other part of a replica', () => {
    const lookedAt = [
      'client/events',
      'runtime/leader-election',
      'rollkeeper/insight/notifications',
      'rollkeeper/insight/problems',
    ];
    // On behalf of those, of other people's controllers, or of the one who asks, with their own rights; or asking the cluster about
    // others (system:auth-delegator).
    const passOn = [
      'api-client',
      'informer',
      'manager',
      'operator',
      'delegated-access',
      'acts',
      'diagnose',
      'object-pages',
    ];
    const notReplicas = [
      ...['cli', 'experiments', 'explain-pod', 'generate', 'rollout'],
      ...['supervisor', 'testing', 'dist'],
    ];
    const product = ['admin', 'insight', 'replica'];
    const folders = [
      ...['machinery', 'client', 'runtime', 'redis', 'rollkeeper'].map((name) => [name]),
      ...product.map((room) => ['rollkeeper', room]),
    ];
    const rest = folders.flatMap((folder) =>
      readdirSync(join(SRC, ...folder), { withFileTypes: true })
        .filter((entry) => entry.isDirectory() || entry.name.endsWith('.ts'))
        .filter(({ name }) => ![...passOn, ...notReplicas, ...product].includes(name))
        .map(({ name }) => [...folder, name])
        .filter((path) => !lookedAt.includes(path.join('/'))),
    );
    // A controller whose writes have got no answer may read what it has written, and one that was interrupted lists what it caches.
    const known = new Set([...text([...events, ...deployment, ...replicaSet]), 'get *', 'list *']);
    // It lists what it owns, as its caches do.
    expect(text(rightsNeededBy('runtime', 'controller'))).toEqual([
      ...['get *', 'list *', 'list replicasets.apps'],
    ]);
    expect(rest).toContainEqual(['rollkeeper', 'replica', 'run-replica.ts']);
    expect(
      text(rest.flatMap((folder) => rightsNeededBy(...folder))).filter((right) => !known.has(right)),
    ).toEqual([]);
  });

  it('let a controller read what it writes by name, since it asks for writes that came to no answer', () => {
    for (const needed of [deployment, replicaSet, garbageCollector]) {
      const given = new Set(text(needed));
      const written = needed.filter(({ verb }) => ['create', 'update', 'patch'].includes(verb));
      const asked = written.map((right) => ({
        ...right,
        resource: right.resource.replace(/\/.*/, ''),
        verb: 'get',
      }));
      expect(asked.length).toBeGreaterThan(0);
      expect(text(unique(asked)).filter((right) => !given.has(right))).toEqual([]);
    }
  });

  it('include those of owner references that block a deletion', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'web', uid: 'u' } };
    expect(newControllerRef(owner)).toMatchObject({ blockOwnerDeletion: true });
  });
});

describe.skipIf(!helm)('the rights that the chart gives', () => {
  const CASES: readonly { controllers: string; needed: readonly Right[] }[] = [
    { controllers: 'deployment,replicaset', needed: [] },
    { controllers: 'deployment, replicaset, garbage-collector', needed: garbageCollector },
    { controllers: 'namespace', needed: namespace },
    { controllers: '*', needed: [...garbageCollector, ...namespace] },
    { controllers: '*,-namespace', needed: garbageCollector },
    { controllers: '*,-garbage-collector', needed: namespace },
    { controllers: '-garbage-collector,*,-namespace', needed: [] },
    { controllers: '*,-garbagecollector,-namespace-controller', needed: [] },
    { controllers: '*,-namespace,namespace,-garbage-collector-controller', needed: [] },
    { controllers: 'garbagecollector,-garbage-collector', needed: garbageCollector },
    { controllers: 'namespace-controller', needed: namespace },
  ];
  const always = unique([...events, ...obstacles, ...deployment, ...replicaSet, ...blocking]);
  const withoutPods = unique([...events, ...obstacles, ...deployment, blocking[0] as Right]);
  const NO_REPLICA_SETS = ['namespace', 'namespace-controller', 'garbagecollector,-garbage-collector'];
  const usual = (controllers: string): readonly Right[] =>
    NO_REPLICA_SETS.includes(controllers) ? withoutPods : always;
  const rulesWith = (values: Values) => new Chart(values).rulesOf('ops');

  it.each(CASES)('are enough for --controllers=$controllers', ({ controllers, needed }) => {
    const rules = rulesWith({ controllers });
    const wanted = [...usual(controllers), ...needed];
    expect(text(wanted.filter((right) => !isGiven(rules, right)))).toEqual([]);
  });

  it.each(CASES)('are no more than it takes, for --controllers=$controllers', ({ controllers, needed }) => {
    const wanted = new Set(text([...identity, ...usual(controllers), ...needed]));
    const given = text(rightsGivenBy(rulesWith({ controllers })));
    expect(given.filter((right) => !wanted.has(right))).toEqual([]);
  });

  it.each(['apps/v1', 'rollkeeper.dev/v1', 'apps/v1,rollkeeper.dev/v1'])(
    'are about Deployments of %s, and without the ReplicaSet controller about no pods but to look at',
    (api) => {
      const given = rightsGivenBy(rulesWith({ controllers: 'deployment', deployments: { api } }));
      const groups = api.split(',').map((each) => each.split('/')[0] ?? '');
      const needed = [...identity, ...withoutPods].flatMap((right) =>
        right.resource.startsWith('deployments') ? groups.map((group) => ({ ...right, group })) : [right],
      );
      expect(text(given)).toEqual(text(needed));
    },
  );

  it('reach ConfigMaps and Secrets only where Deployments restart on them, and there to list and watch', () => {
    const isConfiguration = ({ resource }: Right): boolean => ['configmaps', 'secrets'].includes(resource);
    const ask = rightsToWatch(createDeploymentController({ restartOnConfig: true })).filter(isConfiguration);
    expect(text(ask)).toEqual(['list configmaps', 'list secrets', 'watch configmaps', 'watch secrets']);
    for (const namespaces of [[], ['ops']]) {
      const given = rightsGivenBy(rulesWith({ restartOnConfig: true, namespaces })).filter(isConfiguration);
      expect(text(given)).toEqual(text(ask));
      expect(rightsGivenBy(rulesWith({ namespaces })).filter(isConfiguration)).toEqual([]);
    }
  });

  it('let ConfigMaps and Secrets be read and created only where versions read copies of them', () => {
    const isConfiguration = ({ resource }: Right): boolean => ['configmaps', 'secrets'].includes(resource);
    const write = rightsNeededBy('controllers', 'deployment', 'policies', 'config-restart');
    expect(text(write)).toEqual(['create configmaps', 'create secrets', 'get configmaps', 'get secrets']);
    const watched = rightsToWatch(createDeploymentController({ pinConfig: true })).filter(isConfiguration);
    for (const namespaces of [[], ['ops']]) {
      const given = rightsGivenBy(rulesWith({ pinConfig: true, namespaces })).filter(isConfiguration);
      expect(text(unique(given))).toEqual(text([...watched, ...write]));
    }
  });

  it('reach disruption budgets only where rollouts respect them, and are what it takes', () => {
    const ask = rightsToWatch(createDeploymentController({ respectDisruptionBudgets: true })).filter(
      isBudget,
    );
    const write = rightsNeededBy('controllers', 'deployment').filter(isBudget);
    // After a write that came to no answer.
    const read = { group: 'policy', resource: 'poddisruptionbudgets', verb: 'get' };
    expect(text(write)).toEqual(['update poddisruptionbudgets/status.policy']);
    for (const namespaces of [[], ['ops']]) {
      const values = { respectDisruptionBudgets: true, namespaces, controllers: 'deployment' };
      const given = rightsGivenBy(rulesWith(values)).filter(isBudget);
      expect(text(given)).toEqual(text([...ask, ...write, read]));
      expect(rightsGivenBy(rulesWith({ namespaces })).filter(isBudget)).toEqual([]);
    }
  });

  it('resize pods, and patch Deployments, only where that is asked for', () => {
    for (const namespaces of [[], ['ops']]) {
      const values = { controllers: 'deployment', namespaces };
      const given = rightsGivenBy(rulesWith({ ...values, resizePods: true })).filter(isOfResize);
      expect(text(given)).toEqual(['get pods', 'patch deployments.apps', 'update pods/resize']);
      expect(rightsGivenBy(rulesWith(values)).filter(isOfResize)).toEqual([]);
      expect(text(unique(ofDeployments.filter(isOfResize)))).toEqual(text(given));
    }
  });

  it('reach the definitions of checks, and Jobs, only where checks are measured, and there to get and to create', () => {
    expect(text(checks)).toEqual(['create jobs.batch', 'get configmaps', 'get jobs.batch']);
    const values = { controllers: 'deployment', rolloutChecks: { enabled: true } };
    for (const namespaces of [[], ['ops']]) {
      const given = rightsGivenBy(rulesWith({ ...values, namespaces })).filter(isOfChecks);
      expect(text(given)).toEqual(text(checks));
      expect(rightsGivenBy(rulesWith({ namespaces })).filter(isOfChecks)).toEqual([]);
    }
  });

  it('reach Secrets only where checks may send their values, and there to get', () => {
    expect(text(rightsNeededBy('controllers', 'deployment', 'policies', 'checks').filter(isSecret))).toEqual([
      'get secrets',
    ]);
    const rolloutChecks = { enabled: true, secrets: true };
    for (const namespaces of [[], ['ops']]) {
      const values = { controllers: 'deployment', namespaces };
      expect(text(rightsGivenBy(rulesWith({ ...values, rolloutChecks })).filter(isSecret))).toEqual([
        'get secrets',
      ]);
      const without = rulesWith({ ...values, rolloutChecks: { enabled: true } });
      expect(rightsGivenBy(without).filter(isSecret)).toEqual([]);
    }
  });

  it('reach Secrets where they are channels of notifications, and there to get', () => {
    const ask = rightsNeededBy('rollkeeper', 'insight', 'notifications');
    expect(text(ask)).toEqual(['get replicasets.apps', 'get secrets']);
    for (const namespaces of [[], ['ops']]) {
      const values = { controllers: 'deployment', namespaces, notifications: { hosts: 'hooks.slack.com' } };
      expect(text(rightsGivenBy(rulesWith(values)).filter(isSecret))).toEqual(['get secrets']);
    }
  });

  it('reach ConfigMaps to keep histories in only where that is asked for, and there to get, create and update', () => {
    const ask = rightsNeededBy('controllers', 'deployment', 'record').filter(
      ({ resource }) => resource === 'configmaps',
    );
    expect(text(ask)).toEqual(['create configmaps', 'get configmaps', 'update configmaps']);
    for (const namespaces of [[], ['ops']]) {
      const values = { controllers: 'deployment', namespaces };
      const given = rightsGivenBy(rulesWith({ ...values, lastingHistory: true })).filter(isOfChecks);
      expect(text(given)).toEqual(text(ask));
      expect(rightsGivenBy(rulesWith(values)).filter(isOfChecks)).toEqual([]);
    }
  });

  it('list all kinds only where these are looked at for problems, and are what their diagnoses say that they need', () => {
    for (const namespaces of [[], ['ops']]) {
      const [namespace] = namespaces;
      const types = KIND_DIAGNOSES.flatMap((kind) => [
        kind.type,
        ...kind.needs(namespace).map((need) => need.type),
      ]);
      const ask = types
        .filter(({ namespaced }) => namespaced || namespace === undefined)
        .map(({ group, resource }) => ({ group, resource, verb: 'list' }));
      const events = rightsNeededBy('rollkeeper', 'insight', 'problems');
      expect(text(events)).toEqual(['list events']);
      const without = rulesWith({ namespaces });
      const given = rulesWith({ namespaces, problems: { lookAt: 'all' } });
      expect(text([...ask, ...events].filter((right) => !isGiven(given, right)))).toEqual([]);
      const wanted = new Set(text([...ask, ...events, ...rightsGivenBy(without)]));
      expect(text(rightsGivenBy(given)).filter((right) => !wanted.has(right))).toEqual([]);
      for (const lookAt of ['none', 'deployments'])
        expect(text(rightsGivenBy(rulesWith({ namespaces, problems: { lookAt } })))).toEqual(
          text(rightsGivenBy(without)),
        );
    }
  });

  it('reach Services only where rollouts move them, and there to look and to move their selectors', () => {
    const watched = rightsToWatch(createDeploymentController({ blueGreen: true }));
    const ask = unique([...watched, ...ofDeployments].filter(isService));
    expect(text(ask)).toEqual(['get services', 'list services', 'patch services', 'watch services']);
    for (const namespaces of [[], ['ops']]) {
      const given = rightsGivenBy(rulesWith({ blueGreen: true, namespaces })).filter(isService);
      expect(text(given)).toEqual(text(ask));
      expect(rightsGivenBy(rulesWith({ namespaces })).filter(isService)).toEqual([]);
    }
  });

  it('reach routes only where rollouts steer requests, and there Services and endpoints as well', () => {
    const isOf = (right: Right): boolean => isOfTraffic(right) || isService(right);
    const watched = rightsToWatch(createDeploymentController({ traffic: true }));
    const ask = unique([...watched, ...allOfDeployments].filter(isOf));
    expect(text(ask)).toEqual([
      'create services',
      'get services',
      'list endpointslices.discovery.k8s.io',
      'list grpcroutes.gateway.networking.k8s.io',
      'list httproutes.gateway.networking.k8s.io',
      'list services',
      'patch grpcroutes.gateway.networking.k8s.io',
      'patch httproutes.gateway.networking.k8s.io',
      'patch services',
      'watch grpcroutes.gateway.networking.k8s.io',
      'watch httproutes.gateway.networking.k8s.io',
      'watch services',
    ]);
    for (const namespaces of [[], ['ops']]) {
      const given = rightsGivenBy(rulesWith({ traffic: true, namespaces })).filter(isOf);
      expect(text(unique(given))).toEqual(text(ask));
      expect(rightsGivenBy(rulesWith({ blueGreen: true, namespaces })).filter(isOfTraffic)).toEqual([]);
    }
  });

  it('create pods on trial, and note the result on Deployments, only where pods are compared with admission', () => {
    const needed = rightsNeededBy('controllers', 'deployment', 'drift');
    expect(text(needed)).toEqual(['create pods', 'list pods', 'patch deployments.apps']);
    const isOf = ({ resource, verb }: Right): boolean =>
      (resource === 'pods' && verb === 'create') || (resource === 'deployments' && verb === 'patch');
    for (const namespaces of [[], ['ops']]) {
      const values = { controllers: 'deployment', namespaces };
      const given = rightsGivenBy(rulesWith({ ...values, watchAdmission: true })).filter(isOf);
      expect(text(given)).toEqual(['create pods', 'patch deployments.apps']);
      expect(rightsGivenBy(rulesWith(values)).filter(isOf)).toEqual([]);
    }
  });

  it('mark pods, and report on Evictions, only where evictions by request are responded to', () => {
    const needed = rightsNeededBy('controllers', 'deployment', 'eviction-responder');
    expect(text(needed)).toEqual(['get replicasets.apps', 'patch pods']);
    const isOf = ({ group, resource }: Right): boolean =>
      group === 'lifecycle.k8s.io' || resource.startsWith('pods');
    for (const namespaces of [[], ['ops']]) {
      const values = { controllers: 'deployment', namespaces };
      const given = rightsGivenBy(rulesWith({ ...values, evictionRequests: true })).filter(isOf);
      expect(text(given)).toEqual([
        'get evictions.lifecycle.k8s.io',
        'get pods',
        'list evictions.lifecycle.k8s.io',
        'list pods',
        'patch evictions/status.lifecycle.k8s.io',
        'patch pods',
        'watch evictions.lifecycle.k8s.io',
        'watch pods',
      ]);
      expect(text(rightsGivenBy(rulesWith(values)).filter(isOf))).toEqual(['list pods', 'watch pods']);
    }
  });

  it('need no more for pods that drain than ReplicaSets do', () => {
    const known = new Set(text(replicaSet));
    const needed = text(rightsNeededBy('controllers', 'deployment', 'drain'));
    expect(needed).toEqual(['delete pods', 'get pods']);
    expect(needed.filter((right) => !known.has(right) && right !== 'get pods')).toEqual([]);
  });

  it('reach nodes only where rollouts go zone by zone or are of DaemonSets, and there to list and watch', () => {
    const isNode = ({ resource }: Right): boolean => resource === 'nodes';
    const controllers = [
      createDeploymentController({ zones: true }),
      createReplicaSetController({ zones: true }),
      createDaemonSetRollouts(),
    ];
    for (const controller of controllers)
      expect(text(rightsToWatch(controller).filter(isNode))).toEqual(['list nodes', 'watch nodes']);
    for (const values of [{ zones: true }, { daemonSets: true }])
      expect(text(rightsGivenBy(rulesWith(values)).filter(isNode))).toEqual(['list nodes', 'watch nodes']);
    for (const values of [{}, { zones: true, daemonSets: true, namespaces: ['ops'] }])
      expect(rightsGivenBy(rulesWith(values)).filter(isNode)).toEqual([]);
  });

  const DOCTORS: readonly { values: Values; changes: Partial<Installation> }[] = [
    { values: {}, changes: {} },
    { values: { controllers: '*' }, changes: { controllers: [...KNOWN_CONTROLLERS] } },
    {
      values: { deployments: { api: 'rollkeeper.dev/v1' } },
      changes: { deploymentGroups: ['rollkeeper.dev'] },
    },
    { values: { restartOnConfig: true }, changes: { restartOnConfig: true } },
    { values: { pinConfig: true }, changes: { pinConfig: true, restartOnConfig: true } },
    { values: { respectDisruptionBudgets: true }, changes: { respectDisruptionBudgets: true } },
    { values: { rolloutChecks: { enabled: true } }, changes: { rolloutChecks: true } },
    {
      values: { rolloutChecks: { enabled: true, secrets: true } },
      changes: { rolloutChecks: true, checkSecrets: true },
    },
    { values: { notifications: { hosts: 'hooks.slack.com' } }, changes: { notifications: true } },
    { values: { blueGreen: true }, changes: { blueGreen: true } },
    { values: { traffic: true }, changes: { traffic: true } },
    { values: { experimentServices: true }, changes: { experimentServices: true } },
    { values: { traffic: true, blueGreen: true }, changes: { traffic: true, blueGreen: true } },
    { values: { zones: true }, changes: { zones: true } },
    { values: { statefulSets: true }, changes: { statefulSets: true } },
    { values: { daemonSets: true }, changes: { daemonSets: true } },
    { values: { lastingHistory: true }, changes: { lastingHistory: true } },
    { values: { watchAdmission: true }, changes: { watchAdmission: true } },
    { values: { evictionRequests: true }, changes: { evictionRequests: true } },
    { values: { problems: { lookAt: 'all' } }, changes: { looksAtAllKinds: true } },
    {
      values: { problems: { lookAt: 'all' }, namespaces: ['ops'], redis: { clusterIdentity: 'east' } },
      changes: { looksAtAllKinds: true, namespaces: ['ops'], hasClusterIdentity: true },
    },
    {
      values: { evictionWebhook: { enabled: true } },
      changes: { evictionWebhook: { configuration: 'rk-rollkeeper-evictions', namespace: 'ops' } },
    },
    { values: { redis: { clusterIdentity: 'east' } }, changes: { hasClusterIdentity: true } },
  ];

  it.each(DOCTORS)('are those that `rollkeeper doctor` looks for, with $values', ({ changes, values }) => {
    const installation: Installation = {
      ...{ controllers: ['deployment', 'replicaset'], deploymentGroups: ['apps'], namespaces: [] },
      ...{ hasClusterIdentity: false, restartOnConfig: false, respectDisruptionBudgets: false },
      ...{ pinConfig: false },
      ...{ rolloutChecks: false, checkSecrets: false, blueGreen: false, zones: false },
      ...{ watchAdmission: false, experimentServices: false, evictionRequests: false },
      ...{ lastingHistory: false, looksAtAllKinds: false, traffic: false, notifications: false },
      ...{ statefulSets: false, daemonSets: false },
      ...changes,
    };
    const looked = neededRights(installation).flatMap(({ rights }) => rights);
    expect(text(unique(looked))).toEqual(text(rightsGivenBy(rulesWith(values))));
  });

  it('let a replica know its cluster by one namespace, and see of all others what a list shows', () => {
    const rules = rulesWith({ controllers: 'deployment' });
    expect(isGiven(rules, identity[0] as Right)).toBe(false);
    expect(rules.filter(({ resources }) => resources?.includes('namespaces'))).toMatchObject([
      { verbs: ['list', 'watch'] },
      { resourceNames: ['kube-system'], verbs: ['get'] },
    ]);
  });

  describe('in some namespaces', () => {
    const chart = (): Chart => new Chart({ namespaces: ['a', 'ops'] });

    it('are the same there, by Roles, and nothing anywhere else', () => {
      for (const namespace of ['a', 'ops']) {
        const rules = chart().rulesOf(namespace);
        // Namespaces are listed in the whole cluster or not at all; without, they have no defaults for rollouts.
        const isClusterWide = (right: Right): boolean =>
          obstacles.some(({ resource }) => resource === right.resource) && !isNamespacedObstacle(right);
        const inOne = always.filter((right) => !isClusterWide(right));
        expect(text(inOne.filter((right) => !isGiven(rules, right)))).toEqual([]);
        const wanted = new Set(text(inOne));
        expect(text(rightsGivenBy(rules)).filter((right) => !wanted.has(right))).toEqual([]);
      }
      expect(chart().rulesOf('b')).toEqual([]);
      expect(chart().names.filter((name) => name.startsWith('ClusterRole'))).toEqual([]);
    });

    it('are for events about the leadership as well, which are in the release’s namespace', () => {
      const elsewhere = new Chart({ namespaces: ['a'] });
      expect(text(rightsGivenBy(elsewhere.rulesOf('ops')))).toEqual(text(events));
    });
  });

  describe('with an account for each controller', () => {
    /** The requests of a controller itself; its informers read for all controllers. */
    const own = (needed: readonly Right[]): Right[] =>
      needed.filter(({ resource, verb }) => resource === '*' || !['list', 'watch'].includes(verb));
    const reads = (needed: readonly Right[]): Right[] =>
      needed.filter(({ verb }) => ['list', 'watch'].includes(verb));
    const byController = {
      'deployment-controller': [...own(deployment), blocking[0] as Right],
      'replicaset-controller': [...own(replicaSet), blocking[1] as Right],
      'generic-garbage-collector': garbageCollector,
      'namespace-controller': namespace.filter(({ resource }) => resource !== 'pods'),
    };

    it.each(Object.entries(byController))('are what the %s needs', (account, needed) => {
      const chart = new Chart({ controllers: '*', serviceAccount: { perController: true } });
      const rules = chart.rulesOf('ops', `rk-rollkeeper-${account}`);
      expect(text(needed.filter((right) => !isGiven(rules, right)))).toEqual([]);
      const wanted = new Set(text(needed));
      expect(text(rightsGivenBy(rules)).filter((right) => !wanted.has(right))).toEqual([]);
    });

    it('leave to the pods’ own account what the informers read, events, and the others’ tokens', () => {
      const chart = new Chart({ serviceAccount: { perController: true } });
      const tokens = { group: '', resource: 'serviceaccounts/token', verb: 'create' };
      const needed = unique([
        ...[...events, ...identity, ...obstacles],
        ...[...reads(deployment), ...reads(replicaSet), tokens],
      ]);
      expect(text(rightsGivenBy(chart.rulesOf('ops')))).toEqual(text(needed));
      const [role] = chart
        .all<{ metadata: { name: string }; rules: { resourceNames?: string[] }[] }>('Role')
        .filter(({ metadata }) => metadata.name === 'rk-rollkeeper-tokens');
      expect(role?.rules.map(({ resourceNames }) => resourceNames)).toEqual([
        ['rk-rollkeeper-deployment-controller', 'rk-rollkeeper-replicaset-controller'],
      ]);
      expect(isGiven(chart.rulesOf('ops'), tokens), 'of those alone').toBe(false);
    });
  });

  it('on leases are there where the lease is one, in its namespace, by its name', () => {
    const chart = new Chart({ leaderElection: { resourceLock: 'leases' } });
    const role = chart.one<{ metadata: { namespace?: string }; rules: { resourceNames?: string[] }[] }>(
      'Role',
    );
    const given = rightsGivenBy(chart.rulesOf('ops')).filter(({ resource }) => resource === 'leases');
    expect(text(given)).toEqual(text(lease));
    // Names are known neither at a creation nor in a list.
    expect(text(lease.filter((right) => isGiven(chart.rulesOf('ops'), right)))).toEqual(
      ['create', 'list', 'watch'].map((verb) => `${verb} leases.coordination.k8s.io`),
    );
    expect(role.rules.flatMap(({ resourceNames = [] }) => resourceNames)).toEqual(['rk-rollkeeper']);
    expect(chart.args).toContain('--leader-elect-resource-name=rk-rollkeeper');
    expect(chart.args).toContain('--leader-elect-resource-namespace=ops');
    expect(rightsGivenBy(rulesWith({})).filter(({ resource }) => resource === 'leases')).toEqual([]);
  });

  it('on ConfigMaps are there where leaders leave intents to each other in them, by their names', () => {
    const chart = new Chart({ coordination: 'leases' });
    const rules = chart.rulesOf('ops').filter(({ resources = [] }) => resources.includes('configmaps'));
    expect(rules.flatMap(({ verbs }) => verbs)).toEqual(['create', 'get', 'update']);
    expect(rules.flatMap(({ resourceNames = [] }) => resourceNames)).toEqual(
      [0, 1, 2, 3].map((index) => `rk-rollkeeper-intents-${index}`),
    );
    expect(chart.args).toContain('--coordination=leases');
    expect(chart.args.join(' ')).not.toContain('redis');
  });

  it('on candidates are there where the election is coordinated', () => {
    const given = (coordinated: boolean) =>
      rightsGivenBy(rulesWith({ leaderElection: { resourceLock: 'leases', coordinated } }));
    const candidates = (coordinated: boolean) =>
      text(given(coordinated).filter(({ resource }) => resource === 'leasecandidates'));
    expect(candidates(true)).toEqual(text(candidate));
    expect(candidates(false)).toEqual([]);
  });

  it('on reviews are the cluster’s own role for it, and only where they are needed', () => {
    const roleOf = (values: Values) =>
      new Chart(values)
        .all<{ roleRef: { kind: string; name: string } }>('ClusterRoleBinding')
        .map(({ roleRef }) => `${roleRef.kind}/${roleRef.name}`);
    expect(roleOf({ admin: { auth: 'delegated' } })).toContain('ClusterRole/system:auth-delegator');
    expect(roleOf({})).toEqual(['ClusterRole/rk-rollkeeper']);
  });

  it('to impersonate exist only if an identity provider signs people in and impersonation is enabled, and only for the users named', () => {
    const rulesOf = (oidc: Values) =>
      new Chart({
        admin: { auth: 'delegated', consoleUrl: 'https://a', oidc: { clientId: 'a', ...oidc } },
      })
        .all<{ rules: { resources: string[]; resourceNames?: string[]; verbs: string[] }[] }>('ClusterRole')
        .flatMap(({ rules }) => rules)
        .filter(({ verbs }) => verbs.includes('impersonate'));
    const provider = { issuerUrl: 'https://login.example.com' };
    expect(rulesOf({ rights: 'impersonate' })).toEqual([]);
    expect(rulesOf({ ...provider, rights: 'token' })).toEqual([]);
    const anyone = rulesOf({ ...provider, rights: 'impersonate' });
    expect(anyone.map(({ resources, verbs }) => [...resources, ...verbs])).toEqual([
      ['users', 'impersonate'],
      ['groups', 'impersonate'],
    ]);
    const some = rulesOf({
      ...{ ...provider, rights: 'impersonate' },
      impersonate: { users: ['oidc:anna'], groups: ['oidc:shop', 'oidc:sre'] },
    });
    expect(some.map(({ resourceNames }) => resourceNames)).toEqual([
      ['oidc:anna'],
      ['oidc:shop', 'oidc:sre'],
    ]);
    expect(() =>
      rulesOf({ ...provider, rights: 'impersonate', impersonate: { groups: ['system:masters'] } }),
    ).toThrow('impersonate.groups');
  });
});
