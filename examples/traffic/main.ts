import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { DeepReadonly, HttpApiClient, KubernetesObject } from 'rollkeeper';
import {
  Deployment,
  SystemClock,
  SystemRandom,
  createHttpApiClient,
  createPinoLogger,
  defineKind,
  findCondition,
  isNotFound,
  loadKubeconfig,
  serverSideApply,
  stopSignal,
} from 'rollkeeper';
import { Gateway, GatewayClass, HTTPRoute } from './gateway/gateway-api.ts';
import type { Tally } from './load/tally.ts';
import { Traffic } from './traffic.ts';

const SHOP = { namespace: 'default', name: 'shop' };
const EVERY_MS = 1000;
const RATE = 100;
/** The kubeconfig that `npm start` keeps beside the repository, unless another cluster is named. */
const KUBECONFIG = [process.env['KUBECONFIG'], '.rollkeeper/kubeconfig'].find(
  (path) => path !== undefined && existsSync(path),
);
const Definition = defineKind({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});
const KINDS = [Definition, GatewayClass, Gateway, HTTPRoute, Deployment];

const clock = new SystemClock();
const signal = stopSignal();
const logger = createPinoLogger({ level: 'warn' });

/** Applies what a file has; a kind whose definition is new is served a moment later. */
async function apply(client: HttpApiClient, file: string): Promise<void> {
  for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) {
    const { apiVersion: _version, kind, ...object } = document.toJS() as KubernetesObject;
    const found = KINDS.find((each) => each.kind === kind);
    if (!found) throw new Error(`${file} has a ${kind}`);
    for (;;)
      try {
        await serverSideApply(client, found, object as never, { fieldManager: 'traffic-example' });
        break;
      } catch (error) {
        if (!isNotFound(error)) throw error;
        await clock.sleep(EVERY_MS / 10, signal);
      }
  }
}

/** Reads what the Deployment says about its rollout, and the weights of the route. */
async function look(client: HttpApiClient): Promise<{ isDone: boolean; weights: string; says: string }> {
  const [shop, route] = await Promise.all([client.get(Deployment, SHOP), client.get(HTTPRoute, SHOP)]);
  const weights = (route.spec.rules?.[0]?.backendRefs ?? []).map(({ weight = 1 }) => weight).join('/');
  const { message = '', reason = '' } = findCondition(shop.status?.conditions, 'Progressing') ?? {};
  return { isDone: isRolledOut(shop) && weights === '100/0', weights, says: `${reason}: ${message}` };
}

function isRolledOut({ metadata, spec, status = {} }: DeepReadonly<Deployment>): boolean {
  return (
    status.observedGeneration === metadata.generation &&
    status.updatedReplicas === spec.replicas &&
    status.replicas === spec.replicas &&
    status.availableReplicas === spec.replicas
  );
}

function row(tally: Tally, { says, weights }: { weights: string; says: string }): string {
  const shares = Object.entries(tally.byImage)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([image]) => `${image} ${(100 * tally.shareOf(image)).toFixed(0)} %`);
  const columns = [weights.padEnd(8), shares.join(', ').padEnd(26), `${tally.failed} failed`.padEnd(11)];
  return `${columns.join('')}${says}`.slice(0, 140);
}

/** Prints a line each second until the rollout is complete. */
async function watch(client: HttpApiClient, traffic: Traffic): Promise<void> {
  for (let isDone = false; !isDone;) {
    const tally = traffic.load.count();
    await clock.sleep(EVERY_MS, signal);
    traffic.load.forget(tally);
    const state = await look(client);
    console.log(row(tally, state));
    ({ isDone } = state);
  }
}

const patch = (client: HttpApiClient, body: object) =>
  client.patch<Deployment>(Deployment, SHOP, { type: 'strategic', body });
const setImage = (client: HttpApiClient, image: string) =>
  patch(client, { spec: { template: { spec: { containers: [{ name: 'shop', image }] } } } });

/** Waits until the canary has this weight. */
async function weighs(client: HttpApiClient, traffic: Traffic, weights: string): Promise<void> {
  for (let state = await look(client); state.weights !== weights; state = await look(client)) {
    const tally = traffic.load.count();
    await clock.sleep(EVERY_MS, signal);
    traffic.load.forget(tally);
    console.log(row(tally, await look(client)));
  }
}

async function play(client: HttpApiClient, traffic: Traffic): Promise<Tally> {
  await watch(client, traffic);
  const total = traffic.load.count();
  console.log('\nVersion 2 gets the requests in steps:');
  await setImage(client, 'shop:2');
  await watch(client, traffic);
  console.log('\nVersion 3 is aborted when it has 20 % of the requests:');
  await setImage(client, 'shop:3');
  await weighs(client, traffic, '80/20');
  await patch(client, { metadata: { annotations: { 'rollkeeper.dev/abort': 'example' } } });
  await watch(client, traffic);
  return total;
}

async function main(): Promise<void> {
  const connection = await loadKubeconfig({ path: KUBECONFIG, clock });
  const client = createHttpApiClient({ connection, clock, logger, userAgent: 'traffic-example' });
  const definitions = join(import.meta.dirname, 'definitions');
  for (const file of readdirSync(definitions)) await apply(client, join(definitions, file));
  await apply(client, join(import.meta.dirname, 'shop.yaml'));
  const options = { client, clock, logger, random: new SystemRandom(), ratePerSecond: RATE };
  const traffic = await Traffic.start(options);
  console.log(`The gateway answers on http://127.0.0.1:${traffic.gateway.port}, ${RATE} requests a second.`);
  console.log('\nweights answers of the last second           what the Deployment says');
  try {
    // The controllers have to notice the new kinds first, and then make the two Services.
    while ((await traffic.load.send()).image === undefined) await clock.sleep(EVERY_MS / 10, signal);
    traffic.load.start();
    const total = await play(client, traffic);
    await traffic.load.stop();
    console.log(`\n${total.answered} requests were answered, ${total.failed} failed.`);
    for (const [reason, count] of Object.entries(total.failures)) console.log(`${count} × ${reason}`);
    process.exitCode = total.failed === 0 ? 0 : 1;
  } finally {
    await traffic.stop();
    await client.close();
  }
}

await main();
