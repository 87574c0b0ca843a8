import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import type { EventObject } from '../../src/client/events/event-object.js';
import { untyped, Deployment, Event, Pod } from '../../src/machinery/kubernetes/index.js';
import { freePort } from '../../src/machinery/listening.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { chromiumPath, launchChromium } from '../e2e/support/chromium.js';
import { Up, rollkeeper } from '../e2e/support/up.js';

const EVIL = '<img src=x onerror="window.hacked=true"><script>window.hacked=true</script>';

if (!chromiumPath) console.warn('\n*** no chromium here: the tests of links are SKIPPED ***\n');

describe.skipIf(!chromiumPath)('links into the console', () => {
  let up: Up;
  let client: HttpApiClient;
  let browser: Browser;
  let page: Page;
  let origin: string;
  let pod: string;

  beforeAll(async () => {
    const args = ['--console-port', String(await freePort()), '--', '--problems-interval-ms', '1000'];
    [up, browser] = await Promise.all([Up.start({ args }), launchChromium()]);
    client = await up.client();
    origin = (await up.status()).replicas[0]?.adminUrl ?? '';
    const annotations = { 'node.rollkeeper.dev/logs.web': `first line\n${EVIL}\n` };
    await client.create(Deployment, aDeployment({ name: 'web', annotations }));
    const other = aDeployment({ name: 'other' });
    other.metadata.annotations = { 'rollkeeper.dev/history': '14d' };
    await client.create(Deployment, other);
    pod = await waitFor(
      async () => {
        const { items } = await client.list<Pod>(Pod, { namespace: 'default' });
        return items.find(
          ({ metadata, status }) => metadata.name.startsWith('web-') && status?.phase === 'Running',
        )?.metadata.name;
      },
      { what: 'the pod to run' },
    );
  });
  afterAll(async () => {
    await browser?.close();
    await client?.close();
    await up?.stopAndRemove();
  });

  beforeEach(async () => {
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  });
  afterEach(async () => {
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    await page.close();
  });

  const open = async (address: string): Promise<void> => {
    await page.goto(`${origin}/console${address}`);
    await page.waitForSelector('.fact.live.on');
  };
  const signInLink = async (): Promise<string> =>
    (await rollkeeper('console', '--data-dir', up.dataDir)).stdout.trim();
  const signIn = async (): Promise<void> => {
    await page.goto(await signInLink());
    await page.waitForSelector('.who >> text=admin token');
  };
  /** Types a text into the palette and takes what it finds, before the page can draw it. */
  const typeBeforeTheNextFrame = (typed: string): Promise<void> =>
    page.evaluate(`
      const input = document.getElementById('palette-text');
      input.value = ${JSON.stringify(typed)};
      input.dispatchEvent(new Event('input', { bubbles: true }));
      input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    `);
  const shown = (): Promise<string> => page.evaluate<string>('location.search + location.hash');

  it('sign the browser in once, and are gone from the address at once', async () => {
    const link = await signInLink();
    expect(link).toContain(`${origin}/console#sign-in=`);
    await page.goto(link);
    await page.waitForSelector('.who >> text=admin token');
    expect(await page.evaluate<string>('location.href')).not.toContain('sign-in');
    // The token itself is nowhere in the browser.
    const kept = await page.evaluate<string>(
      'JSON.stringify({ ...sessionStorage, ...localStorage, cookie: document.cookie })',
    );
    expect(kept).not.toContain(await up.adminToken());
    await page.click('.row >> text=web');
    await page.click('.acts >> text=Pause');
    await page.fill('.dialog input[name=by]', 'Anna');
    await page.click('.dialog button[type=submit]');
    await page.waitForSelector('.dialog >> text=are not rolled out');
    await page.click('#close-act');
    await page.reload();
    await page.waitForSelector('.who >> text=admin token');
    await page.click('.who button');
    await page.waitForSelector('.who', { state: 'detached' });
    const again = await browser.newPage();
    await again.goto(link);
    await again.waitForSelector('text=this link was used');
    await again.close();
  });

  it('are not needed: a token can be pasted, and a wrong one is said to be wrong', async () => {
    await open('?deployment=default/other&ask=scale:deployments/default/other');
    await page.fill('.dialog input[name=by]', 'Anna');
    await page.click('.dialog button[type=submit]');
    await page.fill('.dialog input[name=token]', 'a-wrong-token');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.dialog .error >> text=not the right one');
    await page.fill('.dialog input[name=token]', await up.adminToken());
    await page.keyboard.press('Enter');
    await page.waitForSelector('.dialog >> text=Scale: done');
    await page.waitForSelector('.who >> text=admin token');
  });

  it('are printed when everything is up, and by explain', async () => {
    expect(up.printed).toContain(`${origin}/console#sign-in=`);
    const told = await rollkeeper('explain', 'deployment', 'default/other', '--data-dir', up.dataDir);
    expect(told.stdout).toContain(`In the console: ${origin}/console?deployment=default%2Fother`);
    const flags = ['--data-dir', up.dataDir];
    // The command line knows no console for a cluster other than that of the data folder.
    process.env['KUBECONFIG'] = up.kubeconfig;
    try {
      const ofPod = await rollkeeper('explain', 'pod', `default/${pod}`, ...flags);
      expect(ofPod.stdout).toContain(`In the console: ${origin}/console?object=pods%2Fdefault%2F${pod}`);
      const elsewhere = await rollkeeper('explain', 'pod', `default/${pod}`, '--data-dir', '/nowhere');
      expect(elsewhere.stdout).not.toContain('In the console');
    } finally {
      delete process.env['KUBECONFIG'];
    }
  });

  it('end the Events of problems, and what `problems` prints', async () => {
    await client.create(Deployment, aDeployment({ name: 'broken', image: 'web:missing' }));
    const link = `${origin}/console?deployment=default%2Fbroken`;
    const event = await waitFor(
      async () => {
        const { items } = await client.list<EventObject>(untyped(Event), { namespace: 'default' });
        return items.find(
          ({ involvedObject, reportingComponent }) =>
            reportingComponent === 'rollkeeper-problems' && involvedObject.name === 'broken',
        );
      },
      { what: 'the Event of the problem' },
    );
    expect(event.message).toMatch(/\. In the console: /);
    expect(event.message.endsWith(link)).toBe(true);
    process.env['KUBECONFIG'] = up.kubeconfig;
    try {
      const here = await rollkeeper('problems', '--data-dir', up.dataDir);
      expect(here.stdout).toContain(`  in the console: ${link}`);
      const flags = ['--data-dir', '/nowhere'];
      expect((await rollkeeper('problems', ...flags)).stdout).not.toContain('in the console');
      const named = await rollkeeper('problems', ...flags, '--console-url', 'https://rollkeeper.example.com');
      expect(named.stdout).toContain(
        '  in the console: https://rollkeeper.example.com/console?deployment=default%2Fbroken',
      );
    } finally {
      delete process.env['KUBECONFIG'];
    }
    await page.goto(link);
    await page.waitForSelector('h2 >> text=broken');
    await client.delete(Deployment, { namespace: 'default', name: 'broken' });
  });

  it('go back step by step: selections, views, dialogs', async () => {
    await open('?deployment=default/web');
    await page.waitForSelector('h2 >> text=web');
    await page.click('.row >> text=other');
    await page.waitForSelector('h2 >> text=other');
    await page.click('.acts >> text=Scale');
    await page.waitForSelector('.dialog');
    expect(await shown()).toContain('ask=scale');
    await page.goBack();
    await page.waitForSelector('.dialog', { state: 'detached' });
    await page.click('#tab-queues');
    await page.waitForSelector('.view.queues');
    await page.goBack();
    await page.waitForSelector('h2 >> text=other');
    await page.goBack();
    await page.waitForSelector('h2 >> text=web');
    await page.goForward();
    await page.waitForSelector('h2 >> text=other');
  });

  it('open what they say: a filter, a question, the page of an object', async () => {
    await open('?find=name:other&show=all');
    await page.waitForSelector('#rows[aria-label="1 Deployment"]');
    expect(await page.inputValue('#find')).toBe('name:other');
    await open('?deployment=default/other&ask=scale:deployments/default/other');
    await waitFor(async () => (await page.inputValue('.dialog [name=replicas]')) === '1', {
      what: 'the size to be filled in',
    });
    await open(`?object=pods/default/${pod}#objects`);
    await page.waitForSelector('.relations >> text=ReplicaSet default/web-');
    await page.click('.relations a');
    await page.waitForSelector('.detail .ns >> text=ReplicaSet');
  });

  it('are reached with the keyboard alone: to an object, to a view, to an act', async () => {
    await open('#queues');
    await page.keyboard.press('Control+k');
    await page.waitForSelector('#palette-text:focus');
    await page.keyboard.type('other');
    await page.waitForSelector('.palette [aria-selected=true] >> text=default/other');
    await page.keyboard.press('Enter');
    await page.waitForSelector('h2 >> text=other');
    await page.keyboard.press('Control+k');
    await page.waitForSelector('#palette-text:focus');
    await typeBeforeTheNextFrame('restart');
    await page.waitForSelector('#act-title >> text=Restart');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.dialog', { state: 'detached' });
    await page.keyboard.press('Control+k');
    // Without waiting for the frame that shows the palette.
    await page.keyboard.type(`pod default/${pod}`);
    await page.waitForSelector('.palette [aria-selected=true] >> text=Pod');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.detail.object >> text=Healthy');
  });

  it('walk the list of Deployments by every key, however fast they come', async () => {
    await client.create(Deployment, aDeployment({ name: 'third' }));
    await open('');
    await page.waitForSelector('.row >> text=third');
    await page.click('.row[aria-posinset="1"]');
    await page.waitForSelector('.row[aria-posinset="1"][aria-selected=true]');
    await page.evaluate(`
      const rows = document.getElementById('rows');
      for (const key of ['ArrowDown', 'ArrowDown'])
        rows.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    `);
    await page.waitForSelector('.row[aria-posinset="3"][aria-selected=true]');
    await client.delete(Deployment, { namespace: 'default', name: 'third' });
  });

  it('show logs live to those who have signed in, and what is in them as text', async () => {
    await signIn();
    await page.goto(`${origin}/console?object=pods/default/${pod}#objects`);
    await page.click('#follow-log');
    await page.waitForSelector('#log >> text=first line');
    const logs = `first line\n${EVIL}\nand another\n`;
    const annotations = { 'node.rollkeeper.dev/logs.web': logs };
    const body = { metadata: { annotations } };
    await client.patch(Pod, { namespace: 'default', name: pod }, { type: 'merge', body });
    await page.waitForSelector('#log >> text=and another');
    expect(await page.textContent('#log')).toContain(EVIL);
    expect(await page.locator('#log img').count()).toBe(0);
  });

  it('run nothing that comes with an address, an Event or a name', async () => {
    const { metadata } = await client.get<Pod>(Pod, { namespace: 'default', name: pod });
    const event = {
      ...{ apiVersion: 'v1', kind: 'Event', metadata: { namespace: 'default', name: 'evil' } },
      involvedObject: { kind: 'Pod', namespace: 'default', name: pod, uid: metadata.uid },
      ...{ type: 'Warning', reason: 'Evil', message: EVIL, source: { component: EVIL } },
    };
    await client.create(Event, event);
    await open(`?object=pods/default/${pod}#objects`);
    await page.waitForSelector('.events >> text=onerror');
    const evil = encodeURIComponent(EVIL);
    for (const address of [
      `?find=${evil}`,
      `?deployment=${evil}`,
      `?problem=${evil}#problems`,
      `?object=pods/default/${evil}#objects`,
      `?kind=${evil}#objects`,
      `?trace=${evil}`,
      `?ask=scale:${evil}`,
      `?ask=${evil}`,
      `?look=${evil}&at=${evil}`,
      `?queue=${evil}#queues`,
      `#${evil}`,
      `#sign-in=${evil}`,
    ]) {
      await page.goto('about:blank');
      await open(address);
      expect(await page.evaluate('window.hacked'), address).toBeUndefined();
    }
  });

  it('show how a rollout was', async () => {
    const containers = [{ name: 'web', image: 'other:2' }];
    const body = { spec: { template: { spec: { containers } } } };
    await client.patch(Deployment, { namespace: 'default', name: 'other' }, { type: 'strategic', body });
    await open('?deployment=default/other&look=timeline');
    await page.locator('.past-entries li', { hasText: 'a new template' }).nth(1).waitFor();
    await page.click('text=What changed since 1 >> nth=0');
    await page.waitForSelector('.changes >> text=other:2');
    await page.click('text=‹ Before');
    await page.waitForSelector('.past-moment h3 >> text=ago');
    expect(await shown()).toContain('at=');
    await page.reload();
    await page.waitForSelector('.past-moment h3 >> text=ago');
    await page.click('.past-slider >> text=Now');
    await page.waitForSelector('.past-moment h3 >> text=Now');
  });

  it('are what notices of rollouts that got stuck lead to, for those who asked for them', async () => {
    await page.addInitScript(`
      window.told = [];
      window.Notification = class {
        static permission = 'default';
        static async requestPermission() {
          return (this.permission = 'granted');
        }
        constructor(title, options) {
          window.told.push({ title, ...options, click: () => this.onclick() });
        }
        close() {}
      };
    `);
    await open('#objectives');
    await page.click('#notices');
    await page.waitForSelector('#notices[aria-pressed=true]');
    const containers = [{ name: 'web', image: 'other:3-missing' }];
    const body = { spec: { template: { spec: { containers } } } };
    await client.patch(Deployment, { namespace: 'default', name: 'other' }, { type: 'strategic', body });
    await waitFor(async () => (await page.evaluate<number>('window.told.length')) > 0, {
      what: 'the browser to be told',
    });
    expect(await page.evaluate<string>('window.told[0].title')).toBe('default/other is stuck');
    expect(await page.evaluate<string>('window.told[0].body')).toContain('Stuck');
    await page.evaluate('window.told[0].click()');
    await page.waitForSelector('h2 >> text=other');
    expect(await shown()).toContain('deployment=default%2Fother');
  });
});
