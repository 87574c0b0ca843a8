import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startTestCluster } from '../../src/testing/cluster/index.js';

const KUBECTL = process.env['KUBECTL'] ?? 'kubectl';
const PATIENT = { timeoutMs: 120_000 };

const WEB = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata:
      labels: { app: web }
      annotations:
        node.rollkeeper.dev/logs.web: "one\\ntwo\\n"
        node.rollkeeper.dev/exec.web: |
          hostname: "web-0\\n"
          ls /none: { stderr: "ls: /none: No such file or directory\\n", exitCode: 2 }
          sh: "$ "
    spec: { containers: [{ name: web, image: "nginx:1.27" }, { name: side, image: busybox }] }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { color: red }
`;
/** MetalLB's way: on the host's network, without a word of host ports. */
const ON_THE_HOST = `
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: speaker }
spec:
  selector: { matchLabels: { app: speaker } }
  template:
    metadata: { labels: { app: speaker } }
    spec: { hostNetwork: true, containers: [{ name: speaker, image: speaker, ports: [{ containerPort: 7472 }] }] }
`;

describe('kubectl on a cluster', { timeout: 120_000 }, () => {
  let cluster: TestCluster;
  let dir: string;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'rollkeeper-words-'));
    cluster = await startTestCluster({ manifests: [WEB, ON_THE_HOST] });
    await cluster.waitFor('deployment/web', 'rollout', PATIENT);
  });
  afterAll(async () => {
    await cluster.stop();
    rmSync(dir, { recursive: true });
  });

  const environment = () => ({ ...process.env, ...cluster.env, HOME: dir });
  /** The output of kubectl, errors behind the rest. */
  const kubectl = (args: readonly string[], env: Record<string, string> = {}): Promise<string> =>
    new Promise((resolve) => {
      const options = { env: { ...environment(), ...env }, timeout: 60_000 };
      execFile(KUBECTL, args, options, (_error, stdout, stderr) => resolve(stdout + stderr));
    });
  const words = (command: string): Promise<string> => kubectl(command.split(' '));

  it.each<[string, RegExp]>([
    ['get cm settings -o custom-columns=N:.metadata.name,C:.data.color', /^N +C\nsettings +red\n$/],
    ['get cm settings -o go-template={{.data.color}}', /^red$/],
    ['get nodes --sort-by=.metadata.name --no-headers', /^node-0.*\nnode-1.*\nnode-2/],
    ['get nodes --chunk-size=1 -o name', /^node\/node-0\nnode\/node-1\nnode\/node-2\n$/],
    ['get pods --field-selector=status.phase!=Running -o name', /^$/],
    ['create cm dry --dry-run=server -o name', /^configmap\/dry\n$/],
    ['get cm dry', /configmaps "dry" not found/],
    ['patch cm settings --type=json -p [{"op":"add","path":"/data/size","value":"L"}]', /settings patched/],
    ['patch cm settings --type=merge -p {"data":{"size":null}}', /settings patched/],
    ['annotate cm settings note=hi', /settings annotated/],
    ['label cm settings tier=web', /settings labeled/],
    ['wait cm/settings --for=jsonpath={.data.color}=red', /condition met/],
    ['expose deploy/web --port=80', /service\/web exposed/],
    ['autoscale deploy/web --min=1 --max=3', /horizontalpodautoscaler.autoscaling\/web autoscaled/],
    ['describe svc web', /Port: +<unset> +80\/TCP/],
    ['taint node node-2 a=b:NoSchedule', /node\/node-2 tainted/],
    ['cordon node-2', /node\/node-2 cordoned/],
    ['drain node-2 --ignore-daemonsets --force', /node\/node-2 drained/],
    ['uncordon node-2', /node\/node-2 uncordoned/],
    ['explain deployment.spec.strategy --recursive', /rollingUpdate/],
    ['events --for deploy/web', /ScalingReplicaSet/],
    ['cluster-info', /control plane.*is running at/],
    ['delete cm --all --wait=false', /configmap "settings" deleted/],
  ])('%s', async (command, expected) => {
    expect(await words(command)).toMatch(expected);
  });

  it('edits by a program, applies a kustomization, and prunes what is left out', async () => {
    await cluster.apply(WEB);
    const edited = await kubectl(['edit', 'cm', 'settings'], { KUBE_EDITOR: 'sed -i s/red/blue/' });
    expect(edited).toContain('configmap/settings edited');
    const resources = { resources: ['a.json', 'b.json'], labels: [{ pairs: { set: 'one' } }] };
    const map = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
    for (const name of ['a', 'b']) writeFileSync(join(dir, `${name}.json`), JSON.stringify(map(name)));
    writeFileSync(join(dir, 'kustomization.yaml'), JSON.stringify(resources));
    expect(await kubectl(['apply', '-k', dir])).toMatch(/configmap\/a created\nconfigmap\/b created/);
    writeFileSync(join(dir, 'kustomization.yaml'), JSON.stringify({ ...resources, resources: ['a.json'] }));
    const pruned = await kubectl(['apply', '-k', dir, '--prune', '-l', 'set=one']);
    expect(pruned).toMatch(/configmap\/a (unchanged|configured)/);
    expect(pruned).toContain('configmap/b pruned');
    expect(await cluster.get('configmap/settings')).toMatchObject({ data: { color: 'blue' } });
  });

  it('shows what a pod is said to have written, and says why it cannot', async () => {
    await cluster.waitFor('deployment/web', 'rollout', PATIENT);
    expect(await words('logs deploy/web -c web --tail=1')).toBe('two\n');
    expect(await words('logs deploy/web -c nope')).toContain('container nope is not valid for pod web-');
    expect(await words('logs deploy/web -c side')).toMatch(
      /^Error from server: Get "https:.*connection refused/,
    );
    expect(await words('exec deploy/web -c side -- ls')).toMatch(
      /error dialing backend: .*connection refused/,
    );
  });

  it('runs what a pod says of commands, and tells how they end', async () => {
    await cluster.waitFor('deployment/web', 'rollout', PATIENT);
    expect(await words('exec deploy/web -c web -- hostname')).toBe('web-0\n');
    expect(await words('exec deploy/web -c web -- ls /none')).toBe(
      'ls: /none: No such file or directory\ncommand terminated with exit code 2\n',
    );
    expect(await words('exec -i deploy/web -c web -- sh')).toBe('$ ');
    expect(await words('exec deploy/web -c web -- nope')).toContain(
      'exec: "nope": executable file not found in $PATH: unknown',
    );
    const overSpdy = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false' };
    expect(await kubectl(['exec', 'deploy/web', '-c', 'web', '--', 'hostname'], overSpdy)).toContain(
      'commands of simulated pods are answered over WebSockets alone',
    );
    expect(await kubectl(['exec', 'deploy/web', '-c', 'side', '--', 'ls'], overSpdy)).toContain(
      'error dialing backend',
    );
    expect(await kubectl(['attach', 'deploy/web', '-c', 'web'])).toContain('error dialing backend');
    expect(await kubectl(['port-forward', 'deploy/web', ':80'])).toContain('error dialing backend');
  });

  it('follows a log until the pod is gone', async () => {
    await cluster.settled(PATIENT);
    const [pod] = await cluster.list('pods', { labelSelector: 'app=web' });
    const name = `pod/${pod?.metadata.name}`;
    const child = spawn(KUBECTL, ['logs', '-f', name, '-c', 'web'], { env: environment() });
    const first = new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
    const written = text(child.stdout);
    await first;
    await cluster.patch(name, {
      metadata: { annotations: { 'node.rollkeeper.dev/logs.web': 'one\ntwo\nthree\n' } },
    });
    await cluster.delete(name);
    expect(await written).toBe('one\ntwo\nthree\n');
  });
});
