import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DeepReadonly, Deployment, KubernetesObject } from '../../../src/machinery/kubernetes/index.js';
import { helm, helmEnv } from '../../unit/support/helm.js';
import type { ClientCheck, Place } from '../check.js';
import { PATIENT } from '../check.js';

const CHART = join(import.meta.dirname, 'chart');
const RELEASE = 'beacon';
const run = promisify(execFile);

/** Every kind of the chart, with how many objects it has of it beside what the cluster itself puts into a namespace. */
const INSTALLED: Readonly<Record<string, number>> = {
  Deployment: 1,
  StatefulSet: 1,
  DaemonSet: 1,
  Service: 2,
  Ingress: 1,
  ConfigMap: 2,
  Secret: 1,
  ServiceAccount: 1,
  Role: 1,
  RoleBinding: 1,
  HorizontalPodAutoscaler: 1,
  PodDisruptionBudget: 1,
  CronJob: 1,
  NetworkPolicy: 1,
  // One of the chart itself, and one for each replica of its StatefulSet.
  PersistentVolumeClaim: 3,
  Job: 1,
  Probe: 1,
};

/** The life of one release: each check goes on from where the one before has left it. */
export const HELM_CHECKS: readonly ClientCheck[] = [
  {
    name: 'installs a chart of 21 kinds with its own definition, and waits until all of it is there',
    async run(place) {
      const settings = ['--set', 'service.type=LoadBalancer'];
      const told = await helmDoes(place, 'install', CHART, '--wait', '--timeout', '2m', ...settings);
      assert.match(told, /STATUS: deployed[^]*revision 1\./);
      assert.deepEqual(await countsOf(place), INSTALLED);
      await hasStorageAndAddress(place);
      const availableIn = (deployment?: DeepReadonly<Deployment>) =>
        deployment?.status?.availableReplicas ?? 0;
      const deployment = nameOf(place, 'deploy/beacon');
      assert.ok(availableIn(await place.cluster.get<Deployment>(deployment)) >= 1);
      // The chart leaves their number to its HorizontalPodAutoscaler.
      await place.cluster.waitFor<Deployment>(deployment, (it) => availableIn(it) === 2, PATIENT);
      const probe = await objectOf(place, 'prb/beacon-home');
      assert.deepEqual(probe.spec, { url: 'https://beacon.example.com/', intervalSeconds: 30 });
    },
  },
  {
    name: 'runs hooks as Jobs, in their order, and takes away those that shall go',
    async run(place) {
      const migrate = await objectOf(place, 'job/beacon-migrate');
      assert.deepEqual((migrate.status as { succeeded?: number }).succeeded, 1);
      const deployment = await objectOf(place, 'deploy/beacon');
      const { completionTime } = migrate.status as { completionTime: string };
      const { creationTimestamp = '' } = deployment.metadata;
      assert.ok(completionTime <= creationTimestamp, 'a pre-install hook ends before the rest is made');
      assert.equal(await place.cluster.get(nameOf(place, 'job/beacon-announce')), undefined);
    },
  },
  {
    name: 'upgrades, keeps what it has made once, and rolls the pods',
    async run(place) {
      const password = await passwordOf(place);
      const settings = ['--set', 'config.logLevel=debug,ingress.enabled=false', '--reuse-values'];
      const told = await helmDoes(place, 'upgrade', CHART, '--wait', '--timeout', '2m', ...settings);
      assert.match(told, /REVISION: 2/);
      assert.equal(await passwordOf(place), password);
      assert.equal((await countsOf(place))['Ingress'], 0);
      assert.equal((await objectOf(place, 'cm/beacon-migrations'))['data']['revision'], '2');
      assert.equal((await objectOf(place, 'cm/beacon'))['data']['LOG_LEVEL'], 'debug');
      const sets = await place.cluster.list('rs', { namespace: place.namespace });
      assert.equal(sets.length, 2, 'the checksum of the ConfigMap stands in the pods');
    },
  },
  {
    name: 'leaves alone what others have changed beside it, and repairs what they broke',
    async run(place) {
      const { cluster } = place;
      await cluster.patch(nameOf(place, 'svc/beacon'), {
        metadata: { annotations: { theirs: 'stays' } },
        spec: { ports: [{ name: 'http', port: 80, targetPort: 9999 }] },
      });
      await helmDoes(place, 'upgrade', CHART, '--reuse-values');
      const service = await objectOf(place, 'svc/beacon');
      assert.equal(service.metadata.annotations?.['theirs'], 'stays');
      const { ports } = service.spec as { ports: { targetPort: string }[] };
      assert.deepEqual(
        ports.map(({ targetPort }) => targetPort),
        ['http'],
      );
    },
  },
  {
    name: 'is told what is wrong with an upgrade, and fails it',
    async run(place) {
      const bad = (...args: string[]) => helmDoes(place, 'upgrade', CHART, '--reuse-values', ...args);
      await assert.rejects(
        bad('--set', 'service.port=70000'),
        /spec\.ports\[0\]\.port: Invalid value: 70000/,
      );
      await assert.rejects(
        bad('--set', 'probes[0].name=home,probes[0].url=ftp://x'),
        /Probe.*spec\.url: Invalid value: "ftp:\/\/x"/,
      );
      const exitCode = 'migrations.annotations.node\\.rollkeeper\\.dev/exit-code=1';
      await assert.rejects(
        bad('--set', 'migrations.backoffLimit=0', '--set-string', exitCode, '--timeout', '2m'),
        /pre-upgrade hooks failed: job failed: BackoffLimitExceeded/,
      );
      assert.match(await helmDoes(place, 'history'), /6\s.*failed/);
    },
  },
  {
    name: 'rolls back to the first revision',
    async run(place) {
      await helmDoes(place, 'rollback', '1', '--wait', '--timeout', '2m');
      assert.deepEqual(await countsOf(place), INSTALLED);
      assert.equal((await objectOf(place, 'cm/beacon'))['data']['LOG_LEVEL'], 'info');
      assert.match(await helmDoes(place, 'history'), /7\s.*deployed.*Rollback to 1/);
    },
  },
  {
    name: 'runs the tests of the chart',
    async run(place) {
      assert.match(await helmDoes(place, 'test'), /TEST SUITE: +beacon-answers[^]*Phase: +Succeeded/);
    },
  },
  {
    name: 'uninstalls, and leaves nothing but definitions, hooks and what belongs to the namespace',
    async run(place) {
      const { cluster, namespace } = place;
      await helmDoes(place, 'uninstall');
      await cluster.waitFor(nameOf(place, 'deploy/beacon'), 'delete', PATIENT);
      await cluster.settled(PATIENT);
      const left = Object.entries(await countsOf(place)).filter(([, count]) => count > 0);
      // Claims of a StatefulSet outlive it.
      assert.deepEqual(Object.fromEntries(left), { ConfigMap: 1, Job: 1, PersistentVolumeClaim: 2 });
      for (const resource of ['rs', 'endpointslices'])
        assert.deepEqual(await cluster.list(resource, { namespace }), []);
      assert.equal(await cluster.get('clusterrole/beacon'), undefined);
      assert.ok(await cluster.get('crd/probes.beacon.example.com'), 'Helm never deletes a definition');
      await cluster.delete('crd/probes.beacon.example.com');
    },
  },
];

async function helmDoes({ cluster, namespace }: Place, command: string, ...args: string[]): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'rollkeeper-helm-'));
  try {
    const env = { ...helmEnv(home), KUBECONFIG: cluster.kubeconfig.path };
    const [chart, ...rest] = args;
    const named = chart === CHART ? [command, RELEASE, CHART, ...rest] : [command, RELEASE, ...args];
    return (await run(helm ?? 'helm', [...named, '--namespace', namespace], { env })).stdout;
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** Checks the objects that `--wait` has waited for beside pods. */
async function hasStorageAndAddress(place: Place): Promise<void> {
  for (const claim of ['beacon', 'data-beacon-store-0', 'data-beacon-store-1']) {
    const { phase } = (await objectOf(place, `pvc/${claim}`)).status as { phase: string };
    assert.equal(phase, 'Bound', claim);
  }
  const { loadBalancer } = (await objectOf(place, 'svc/beacon')).status as {
    loadBalancer: { ingress: { ip: string }[] };
  };
  assert.match(loadBalancer.ingress[0]?.ip ?? '', /^198\.51\.100\.\d+$/);
}

const nameOf = ({ namespace }: Place, name: string): string => `${namespace}/${name}`;

interface AnyObject extends KubernetesObject {
  readonly spec?: unknown;
  readonly status?: unknown;
  readonly data: Readonly<Record<string, string>>;
}

async function objectOf(place: Place, name: string): Promise<AnyObject> {
  const found = await place.cluster.get<AnyObject>(nameOf(place, name));
  assert.ok(found, `${name} is not there`);
  return found;
}

async function passwordOf(place: Place): Promise<string | undefined> {
  return (await objectOf(place, 'secret/beacon')).data['password'];
}

async function countsOf({ cluster, namespace }: Place): Promise<Record<string, number>> {
  const counts = Object.keys(INSTALLED).map(async (kind) => {
    const found = await cluster.list(kind, { namespace });
    return [kind, found.filter((object) => !isOfNamespace(object)).length] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

/** The namespace's own, and what Helm keeps its releases in. */
function isOfNamespace({ metadata: { name } }: KubernetesObject): boolean {
  return name === 'default' || name === 'kube-root-ca.crt' || name.startsWith('sh.helm.release.');
}
