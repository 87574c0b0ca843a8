import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { Deployment, Event, Namespace } from '../../src/machinery/kubernetes/index.js';
import { freePort } from '../../src/machinery/listening.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { chromiumPath, launchChromium } from '../e2e/support/chromium.js';
import { Up } from '../e2e/support/up.js';
import { CLIENT_ID, TestIdentityProvider } from '../integration/support/identity-provider.js';
import { rightsOfShop } from './support/shop-rights.js';

const API_GROUP = 'rbac.authorization.k8s.io';
const TEAM = { kind: 'Group', name: 'oidc:shop', apiGroup: API_GROUP };

if (!chromiumPath)
  console.warn('\n*** no chromium here: the tests of an identity provider are SKIPPED ***\n');

describe.skipIf(!chromiumPath)('signing in to the console by an identity provider', () => {
  let up: Up;
  let provider: TestIdentityProvider;
  let client: HttpApiClient;
  let browser: Browser;
  let page: Page;
  let origin: string;

  beforeAll(async () => {
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    provider = await TestIdentityProvider.start({ clock: new SystemClock() });
    provider.person = { sub: 'berta', groups: ['shop'] };
    const oidc = {
      ...{ 'issuer-url': provider.issuer, 'client-id': CLIENT_ID, rights: 'impersonate' },
      ...{ 'username-prefix': 'oidc:', 'groups-claim': 'groups', 'groups-prefix': 'oidc:' },
    };
    const args = [
      ...['--replicas', '2', '--console-port', String(port), '--', '--admin-auth', 'delegated'],
      ...['--admin-local-reads', 'token'],
      ...Object.entries(oidc).flatMap(([name, value]) => [`--oidc-${name}`, value]),
    ];
    [up, browser] = await Promise.all([Up.start({ args }), launchChromium()]);
    client = await up.client();
    for (const namespace of ['shop', 'secret']) {
      await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      await client.create(Deployment, aDeployment({ namespace, name: `${namespace}-web` }));
    }
    for (const [type, object] of rightsOfShop(TEAM))
      await client.create(type, {
        apiVersion: `${API_GROUP}/v1`,
        kind: type.kind,
        ...object,
      } as KubernetesObject);
    page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  });
  afterAll(async () => {
    await browser?.close();
    await client?.close();
    await up?.stopAndRemove();
    await provider?.stop();
  });

  it('goes to the provider, comes back to the same view, and leaves nothing in the address or in cookies', async () => {
    await page.goto(`${origin}/console?deployment=shop/shop-web&find=ns:shop#rollouts`);
    await page.click('#sign-in-here');
    await page.waitForSelector('.who >> text=oidc:berta');
    await page.waitForSelector('.row >> text=shop-web');
    const address = new URL(page.url());
    expect(address.pathname + address.search + address.hash).toBe(
      '/console?deployment=shop/shop-web&find=ns:shop#rollouts',
    );
    expect(await page.context().cookies()).toEqual([]);
  });

  it('shows the rollouts of the user’s namespace and no other', async () => {
    await page.goto(`${origin}/console#rollouts`);
    await page.waitForSelector('.who >> text=oidc:berta');
    await page.waitForSelector('.row >> text=shop-web');
    expect(await page.locator('.row').count()).toBe(1);
    expect(await page.textContent('#app')).not.toContain('secret-web');
  });

  it('lets the user act there, under the name that the provider gives', async () => {
    await page.goto(`${origin}/console?deployment=shop/shop-web&ask=scale:deployments/shop/shop-web`);
    await page.waitForSelector('.dialog >> text=As oidc:berta');
    await page.fill('.dialog [name=replicas]', '2');
    await page.click('.dialog button[type=submit]');
    await page.waitForSelector('.dialog >> text=Scale: done');
    const { items } = await client.list<KubernetesObject & { readonly message?: string }>(Event, {
      namespace: 'shop',
    });
    expect(items.map(({ message }) => message)).toContain('oidc:berta: scaled from 1 to 2');
  });

  it('goes on at another replica with the same session, and shows nothing there without it', async () => {
    const other = (await up.status()).replicas.find(({ adminUrl }) => !adminUrl.startsWith(origin));
    const session = await page.evaluate<string>("sessionStorage.getItem('rollkeeper-token')");
    const ask = async (token?: string) =>
      fetch(`${other?.adminUrl}/admin/objects/caller`, {
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      });
    expect(await (await ask(session)).json()).toEqual({ user: 'oidc:berta' });
    expect((await ask()).status).toBe(401);
  });

  it('signs out, and shows nothing any more', async () => {
    await page.goto(`${origin}/console#rollouts`);
    await page.click('.who button');
    await page.waitForSelector('#sign-in');
    expect(await page.evaluate<string>("sessionStorage.getItem('rollkeeper-token')")).toBe('');
    await page.goto(`${origin}/console#rollouts`);
    await page.waitForSelector('#sign-in-here');
    expect(await page.locator('.row').count()).toBe(0);
  });

  it('takes no answer in a tab that has not begun to sign in', async () => {
    const other = await browser.newPage();
    await other.goto(`${origin}/console/signed-in?code=stolen&state=stolen`);
    await other.waitForSelector('.lost >> text=this tab has not started a sign-in');
    expect(new URL(other.url()).pathname).toBe('/console');
    expect(other.url()).not.toContain('stolen');
    await other.close();
  });

  it('says who is not let in, and why', async () => {
    const other = await browser.newPage();
    provider.person = { sub: 'carl', groups: [] };
    await other.goto(`${origin}/console#rollouts`);
    await other.click('#sign-in-here');
    await other.waitForSelector('.lost >> text=oidc:carl may not get');
    provider.person = { sub: 'eve', groups: ['shop'] };
    provider.forge = { claims: (usual) => ({ ...usual, nonce: 'another' }) };
    const third = await browser.newPage();
    await third.goto(`${origin}/console#rollouts`);
    await third.click('#sign-in-here');
    await third.waitForSelector('.lost >> text=Not signed in: the answer of the identity provider');
    provider.forge = {};
    await Promise.all([other.close(), third.close()]);
  });
});
