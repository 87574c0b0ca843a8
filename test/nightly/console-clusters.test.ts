import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, Namespace } from '../../src/machinery/kubernetes/index.js';
import { freePort } from '../../src/machinery/listening.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { chromiumPath, launchChromium } from '../e2e/support/chromium.js';
import { Up, rollkeeper } from '../e2e/support/up.js';

if (!chromiumPath) console.warn('\n*** no chromium here: the tests of two clusters are SKIPPED ***\n');

describe.skipIf(!chromiumPath)('the consoles of two clusters', () => {
  const ups: Record<string, Up> = {};
  const urls: Record<string, string> = {};
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    for (const name of ['eu', 'us']) urls[name] = `http://127.0.0.1:${await freePort()}`;
    const list = Object.entries(urls)
      .map(([name, url]) => `${name}=${url}`)
      .join(',');
    browser = await launchChromium();
    for (const [name, url] of Object.entries(urls)) {
      const args = ['--replicas', '1', '--nodes', '1', '--console-port', new URL(url).port];
      ups[name] = await Up.start({ args: [...args, '--', '--console-clusters', list] });
      const client = await ups[name].client();
      const namespace = `in-${name}`;
      await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      const image = name === 'us' ? 'web:missing' : 'web:1';
      await client.create(Deployment, aDeployment({ namespace, name: 'web', image }));
      await client.close();
    }
    page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  });
  afterAll(async () => {
    await browser?.close();
    for (const up of Object.values(ups)) await up.stopAndRemove();
  });

  const open = async (address: string): Promise<void> => {
    await page.goto('about:blank');
    await page.goto(address);
    await page.waitForSelector('.fact.live.on');
  };

  it('lead to each other, to the same view', async () => {
    await open(`${urls['eu']}/console?find=state:stuck#rollouts`);
    await page.waitForSelector('#clusters-button >> text=eu');
    await page.click('#clusters-button');
    await page.waitForSelector('#clusters-list >> text=works');
    await page.click('#clusters-list >> text=us');
    await page.waitForSelector('#clusters-button >> text=us');
    expect(new URL(page.url())).toMatchObject({ origin: urls['us'], hash: '#rollouts' });
    expect(new URL(page.url()).searchParams.get('find')).toBe('state:stuck');
    await page.waitForSelector('.row >> text=in-us');
    await page.keyboard.press('Escape');
  });

  it('show nothing of the other cluster before the person has signed in there', async () => {
    await open(`${urls['eu']}/console#clusters`);
    await page.waitForSelector('.clusters >> text=us shows nothing here until you sign in there');
    await page.waitForSelector('.clusters >> text=No problems');
    expect(await page.textContent('.clusters')).not.toContain('in-us');
  });

  it('show what is wrong in the other once the person has said so there, and lead to it', async () => {
    const link = (await rollkeeper('console', '--data-dir', ups['us']?.dataDir ?? '')).stdout.trim();
    await open(link);
    await page.waitForSelector('.who');
    await open(`${urls['eu']}/console#clusters`);
    await page.click('text=Sign in at us');
    await page.waitForSelector('.dialog >> text=cannot change anything here');
    await page.click('#hand-over');
    // The console of us has the same list.
    await page.waitForURL(`${urls['eu']}/console#clusters`);
    await page.waitForSelector('.cluster-problems >> text=in-us/web');
    await page.click('.cluster-problems >> text=in-us/web');
    await page.waitForSelector('.problem-list >> text=web');
    expect(page.url()).toBe(`${urls['us']}/console?problem=in-us%2Fweb#problems`);
  });

  it('give nothing to a console that they do not name', async () => {
    await open(`${urls['us']}/console?hand-over=${encodeURIComponent('https://evil.example')}#clusters`);
    await page.click('#hand-over');
    await page.waitForSelector('.dialog .error >> text=not one of --console-clusters');
    expect(page.url()).toContain(urls['us'] ?? '-');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.dialog', { state: 'detached' });
    expect(page.url()).not.toContain('hand-over');
  });

  it('say that the other is away', async () => {
    await open(`${urls['eu']}/console#clusters`);
    await ups['us']?.stopAndRemove();
    delete ups['us'];
    await waitFor(async () => (await page.textContent('.clusters'))?.includes('does not answer'), {
      what: 'the page to say that us is away',
    });
    await page.waitForSelector('#clusters-button .badge >> text=1');
  });
});
