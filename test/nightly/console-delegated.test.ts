import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import {
  untyped,
  Deployment,
  Event,
  Namespace,
  Pod,
  ServiceAccount,
} from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { chromiumPath, launchChromium } from '../e2e/support/chromium.js';
import { Up, rollkeeper } from '../e2e/support/up.js';
import { rightsOfShop } from './support/shop-rights.js';

const API_GROUP = 'rbac.authorization.k8s.io';
const TEAM = { kind: 'ServiceAccount', namespace: 'shop', name: 'team' };

interface TokenRequest extends KubernetesObject {
  readonly spec: object;
  readonly status?: { readonly token: string };
}

if (!chromiumPath) console.warn('\n*** no chromium here: the tests of delegated rights are SKIPPED ***\n');

describe.skipIf(!chromiumPath)('the console for a user of one namespace', () => {
  let up: Up;
  let client: HttpApiClient;
  let browser: Browser;
  let page: Page;
  let origin: string;

  beforeAll(async () => {
    const args = ['--replicas', '1', '--', '--admin-auth', 'delegated'];
    [up, browser] = await Promise.all([Up.start({ args }), launchChromium()]);
    client = await up.client();
    origin = (await up.status()).replicas[0]?.adminUrl ?? '';
    const annotations = { 'node.rollkeeper.dev/logs.web': 'the log of a pod\n' };
    for (const namespace of ['shop', 'secret']) {
      await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      await client.create(Deployment, aDeployment({ namespace, name: `${namespace}-web`, annotations }));
      await waitFor(async () => podOf(namespace), { what: `a pod of ${namespace}` });
    }
    const { namespace, name } = TEAM;
    await client.create(ServiceAccount, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace, name },
    });
    for (const [type, object] of rightsOfShop(TEAM))
      await client.create(type, {
        apiVersion: `${API_GROUP}/v1`,
        kind: type.kind,
        ...object,
      } as KubernetesObject);
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    await page.goto(await linkOfTeam());
    await page.waitForSelector('.who >> text=system:serviceaccount:shop:team');
  });
  afterAll(async () => {
    await browser?.close();
    await client?.close();
    await up?.stopAndRemove();
  });

  const podOf = async (namespace: string): Promise<string | undefined> => {
    const { items } = await client.list<KubernetesObject & { readonly status?: { readonly phase?: string } }>(
      Pod,
      { namespace },
    );
    return items.find(({ status }) => status?.phase === 'Running')?.metadata.name;
  };

  /** With the token of a kubeconfig of their own. */
  const linkOfTeam = async (): Promise<string> => {
    const { status } = await client.create<TokenRequest>(
      untyped(ServiceAccount),
      {
        ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' },
        metadata: { namespace: TEAM.namespace, name: TEAM.name },
        spec: { expirationSeconds: 3600 },
      },
      { subresource: 'token' },
    );
    const kubeconfig = join(up.dataDir, 'team-kubeconfig');
    const own = readFileSync(up.kubeconfig, 'utf8').replace(/token: .*/, `token: ${status?.token}`);
    writeFileSync(kubeconfig, own, { mode: 0o600 });
    const told = await rollkeeper('console', '--kubeconfig', kubeconfig, '--data-dir', up.dataDir);
    expect(told.stderr).toBe('');
    return told.stdout.trim();
  };

  const open = async (address: string): Promise<void> => {
    await page.goto('about:blank');
    await page.goto(`${origin}/console${address}`);
    await page.waitForSelector('.fact.live.on');
  };

  it('lists the objects of that namespace, and says what is refused', async () => {
    await open('#objects');
    await page.waitForSelector('.object-list >> text=Not shown');
    await page.fill('#object-namespace', 'shop');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.object-row >> text=shop-web');
    await page.fill('#object-namespace', 'secret');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.object-list >> text=Not shown');
    expect(await page.locator('.object-row').count()).toBe(0);
  });

  it('shows the page and the log of an object there, and of no other', async () => {
    await open(`?object=pods/shop/${await podOf('shop')}#objects`);
    await page.waitForSelector('#yaml');
    // One who has signed in sees values as the API has them.
    expect(await page.textContent('pre.yaml')).toContain('the log of a pod');
    await page.click('#follow-log');
    await page.waitForSelector('#log >> text=the log of a pod');
    await open(`?object=pods/secret/${await podOf('secret')}#objects`);
    await page.waitForSelector('.detail .error');
    expect(await page.textContent('.detail .error')).toContain('cannot get resource "pods"');
    expect(await page.locator('pre').count()).toBe(0);
  });

  it('acts there in their name without asking for one, and nowhere else', async () => {
    await open('?deployment=shop/shop-web&ask=scale:deployments/shop/shop-web');
    await page.waitForSelector('.dialog >> text=As system:serviceaccount:shop:team');
    await page.fill('.dialog [name=replicas]', '2');
    await page.click('.dialog button[type=submit]');
    await page.waitForSelector('.dialog >> text=Scale: done');
    const { items } = await client.list<KubernetesObject & { readonly message?: string }>(Event, {
      namespace: 'shop',
    });
    expect(items.map(({ message }) => message)).toContain(
      'system:serviceaccount:shop:team: scaled from 1 to 2',
    );
    await open('?deployment=secret/secret-web&ask=scale:deployments/secret/secret-web');
    await page.waitForSelector('.dialog >> text=As system:serviceaccount:shop:team');
    await page.fill('.dialog [name=replicas]', '2');
    await page.click('.dialog button[type=submit]');
    await page.waitForSelector('.dialog .error');
    expect(await page.textContent('.dialog .error')).toContain('system:serviceaccount:shop:team');
  });

  it('lists the rollouts there with their time line, and no other', async () => {
    await open('?deployment=shop/shop-web&look=timeline');
    await page.waitForSelector('.past-entries li');
    expect(await page.locator('.row').count()).toBe(1);
    await open('?deployment=secret/secret-web&look=timeline');
    await page.waitForSelector('.row >> text=shop-web');
    await page.waitForSelector('.detail >> text=Select a rollout');
    expect(await page.locator('.row').count()).toBe(1);
    expect(await page.textContent('#app')).not.toContain('secret-web');
  });
});
