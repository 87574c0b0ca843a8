import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { Deployment, Event, Pod } from '../../src/machinery/kubernetes/index.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { chromiumPath, launchChromium } from '../e2e/support/chromium.js';
import { Up } from '../e2e/support/up.js';

/** In the page: scrolls fast and answers how many rows were there at most. */
const SCROLL_AND_COUNT_ROWS = `(async () => {
  const rows = document.querySelector('#rows');
  let most = 0;
  for (let step = 0; step < 60; step++) {
    rows.scrollTop += 900;
    await new Promise((resolve) => requestAnimationFrame(resolve));
    most = Math.max(most, document.querySelectorAll('.row').length);
  }
  return most;
})()`;

/** In the page: what it says of the Deployment that it shows, all of one moment. */
const ROLLOUT_ON_PAGE = `(() => ({
  complete: document.querySelector('h2 .chip.complete') !== null,
  figures: [...document.querySelectorAll('.figures')].map(({ textContent }) => textContent.trim()).join(' | '),
  image: document.querySelector('.set.new .image')?.textContent ?? '',
}))()`;
type RolloutOnPage = Readonly<Record<'figures' | 'image', string> & Record<'complete', boolean>>;

if (!chromiumPath) console.warn('\n*** no chromium here: the tests of the console are SKIPPED ***\n');

describe.skipIf(!chromiumPath)('the console in a real browser', () => {
  let up: Up;
  let client: HttpApiClient;
  let browser: Browser;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    [up, browser] = await Promise.all([Up.start(), launchChromium()]);
    client = await up.client();
  });

  afterAll(async () => {
    await browser?.close();
    await client?.close();
    await up?.stopAndRemove();
  });

  beforeEach(async () => {
    problems = [];
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.on('response', (response) => {
      if (response.status() === 404 || response.status() === 500) problems.push(response.url());
    });
    page.on('pageerror', (error) => problems.push(String(error)));
    // The browser also reports here what the content security policy refuses, and answers that ask for a token.
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load'))
        problems.push(message.text());
    });
  });

  afterEach(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });

  /** On a replica that does not lead, because the leader is killed. */
  const open = async (query = ''): Promise<void> => {
    const { replicas } = await up.status();
    const url = replicas.find(({ leader }) => !leader)?.adminUrl;
    await page.goto(`${url}/console${query}`);
    await page.waitForSelector('.fact.live.on');
  };

  const create = async (deployment: Deployment): Promise<void> => {
    await client.create(Deployment, deployment);
    await waitFor(
      async () => {
        const { spec, status } = await client.get<Deployment>(Deployment, deployment.metadata);
        return (status?.availableReplicas ?? 0) === spec.replicas;
      },
      { what: `${deployment.metadata.name} to be available` },
    );
  };

  const setImage = async (name: string, image: string): Promise<void> => {
    const containers = [{ name: 'web', image }];
    const body = { spec: { template: { spec: { containers } } } };
    await client.patch(Deployment, { namespace: 'default', name }, { type: 'strategic', body });
  };

  const text = async (selector: string): Promise<string> => (await page.textContent(selector)) ?? '';

  it('shows a release as one row, in the worst state of its Deployments, and a click shows these alone', async () => {
    for (const name of ['rel-api', 'rel-web']) {
      const deployment = aDeployment({ name, replicas: 1 });
      deployment.metadata.annotations = { 'rollkeeper.dev/release': 'shop-42' };
      await create(deployment);
    }
    await create(aDeployment({ name: 'rel-none', replicas: 1 }));
    await open();
    const release = page.locator('.releases button');
    await page.waitForSelector('.releases .chip.complete');
    expect(await release.textContent()).toMatch(/default\/shop-42\s+2 of 2 settled\s+Complete/);
    await client.patch(
      Deployment,
      { namespace: 'default', name: 'rel-web' },
      { type: 'merge', body: { spec: { paused: true } } },
    );
    await page.waitForSelector('.releases .chip.paused');
    await release.click();
    const rows = async (): Promise<string[]> => await page.locator('.row .name').allTextContents();
    await waitFor(async () => (await rows()).length === 2, { what: 'the two rows of the release' });
    expect((await rows()).toSorted()).toEqual(['default/rel-api', 'default/rel-web']);
    await release.click();
    await waitFor(async () => (await rows()).includes('default/rel-none'), { what: 'all rows' });
  });

  it('shows a rollout moving, within its limits, until it is complete', async () => {
    const annotations = { 'node.rollkeeper.dev/ready-after': '400ms' };
    await create(aDeployment({ name: 'moving', replicas: 8, annotations }));
    await open('?deployment=default/moving');
    await page.waitForSelector('h2 .chip.complete');
    const seen = new Set<string>();
    await setImage('moving', 'web:2');
    await waitFor(
      async () => {
        const { complete, figures, image } = await page.evaluate<RolloutOnPage>(ROLLOUT_ON_PAGE);
        seen.add(figures);
        return complete && image === 'web:2';
      },
      { intervalMs: 30, what: 'the rollout to be seen complete' },
    );
    // Something new beside something old, at more than one point of the way.
    const between = [...seen].filter((figures) => /^[1-9]\d* new \+ [1-9]\d* old/.test(figures));
    expect(between.length).toBeGreaterThanOrEqual(2);
    for (const figures of seen) {
      const asked = Number(/= (\d+)/.exec(figures)?.[1] ?? 0);
      expect(asked).toBeLessThanOrEqual(10);
    }
    expect(await page.getAttribute('.set.new .dots', 'aria-label')).toBe('8 available');
    expect(await text('.timeline')).toContain('controller-');
    // The trace of a decision opens, across processes, and closes with the keyboard.
    await page.locator('button.trace').first().click();
    await page.waitForSelector('.waterfall li');
    expect(await text('.waterfall')).toContain('sync');
    // Writes are lines on their sync, decisions marks; both are said in words.
    expect(await text('.waterfall')).toMatch(/update deployments\/status \([\d.]+ (µs|ms|s)\)/);
    expect(await text('.waterfall')).toMatch(/create \d+ pods?/);
    expect(await page.locator('.waterfall .write').count()).toBeGreaterThan(0);
    expect(await page.locator('.waterfall .event').count()).toBeGreaterThan(0);
    await waitFor(async () => (await page.evaluate('document.activeElement.id')) === 'close-trace', {
      what: 'the dialog to take the keyboard',
    });
    await page.keyboard.press('Escape');
    await page.waitForSelector('.waterfall', { state: 'detached' });
  });

  it('explains a rollout that is stuck, and what would unblock it', async () => {
    await create(aDeployment({ name: 'stuck', replicas: 4 }));
    await open('?deployment=default/stuck');
    await page.waitForSelector('h2 .chip.complete');
    await setImage('stuck', 'web:3-missing');
    await page.waitForSelector('.causes .blocked');
    expect(await text('.causes .blocked code')).toBe('image-pull');
    expect(await text('.sentence')).toMatch(/^Stuck: .*cannot be pulled/);
    expect(await text('.ways')).toContain('kubectl rollout undo');
    // The pods come by the feed, the explanation is asked for: either may be first.
    await page.waitForSelector('.set.new .dots[aria-label*="image not pulled"]');
    await page.waitForSelector('.filters .stuck span');
    expect(await text('.sums')).toContain('room to shrink');
    // The list says so as well, and screen readers announce it.
    expect(await text('.row[aria-selected=true]')).toContain('cannot be pulled');
    await waitFor(async () => (await text('#announce')).includes('cannot be pulled'), {
      what: 'the announcement',
    });
  });

  it('shows a failover happening', async () => {
    await open('#replicas');
    await page.waitForSelector('.chip.leader');
    const leader = await up.leader();
    expect(await text('#leader')).toContain(leader.identity);
    const epoch = async (): Promise<number> => Number(/epoch (\d+)/.exec(await text('#leader'))?.[1]);
    const before = await epoch();
    process.kill(leader.pid, 'SIGKILL');
    // Any replica may win: the killed one may be back in time.
    await waitFor(async () => (await epoch()) > before && (await text('#leader')).includes(' leads'), {
      what: 'the next leader to be shown',
    });
    await waitFor(async () => (await text('#history')).includes('leads now'), {
      what: 'the history of the failover',
    });
    // It comes back as another process.
    await waitFor(async () => (await page.locator('.card:not(.away)').count()) === 3, {
      what: 'three replicas that answer',
    });
  });

  it('is live again by itself when the replica that serves it was killed and came back', async () => {
    await create(aDeployment({ name: 'served', replicas: 1 }));
    await open('?deployment=default/served');
    const { origin } = new URL(page.url());
    const serving = (await up.status()).replicas.find(({ adminUrl }) => adminUrl === origin);
    process.kill(serving?.pid ?? 0, 'SIGKILL');
    await page.waitForSelector('.fact.live:not(.on)');
    await page.waitForSelector('.fact.live.on');
    await setImage('served', 'web:2');
    await waitFor(async () => (await page.evaluate<RolloutOnPage>(ROLLOUT_ON_PAGE)).image === 'web:2', {
      what: 'the page to show what happens now',
    });
  });

  it('is walked with the keyboard alone', async () => {
    await create(aDeployment({ name: 'another', replicas: 1 }));
    await open();
    await page.waitForSelector('.row[aria-selected=true]');
    await page.focus('#rows');
    await page.keyboard.press('End');
    const rows = await page.getAttribute('.row', 'aria-setsize');
    await page.waitForSelector(`.row[aria-selected=true][aria-posinset="${rows}"]`);
    const last = await text('.row[aria-selected=true] .name');
    await page.keyboard.press('ArrowUp');
    await waitFor(async () => (await text('.row[aria-selected=true] .name')) !== last, {
      what: 'the selection to move',
    });
    const active = await page.getAttribute('#rows', 'aria-activedescendant');
    expect(await page.getAttribute(`#${active}`, 'aria-selected')).toBe('true');
    await page.focus('#tab-rollouts');
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('#tab-problems[aria-selected=true]');
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('#tab-objects[aria-selected=true]');
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('section[aria-label=Replicas]');
    expect(await page.getAttribute('#tab-replicas', 'aria-selected')).toBe('true');
  });

  it('shows as failures no controllers that only the leader works on, and a queue that is chosen in sight', async () => {
    await open('#replicas');
    await page.waitForSelector('.controller .lamp.standby');
    expect(await page.locator('.controller .lamp.bad').count()).toBe(0);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.click('#tab-queues');
    await page.locator('table button', { hasText: /^\s*namespace\s*$/ }).click();
    // All of it, or as far up as the page goes.
    const inSight = `(() => {
      const keys = document.querySelector('#queue-keys');
      if (!keys?.textContent.includes('Keys of namespace')) return false;
      const { bottom, top } = keys.getBoundingClientRect();
      return top >= 0 && (bottom <= innerHeight || top < innerHeight / 2);
    })()`;
    await waitFor(async () => page.evaluate<boolean>(inSight), { what: 'the keys to be in sight' });
    for (const tab of ['rollouts', 'problems', 'objects', 'replicas', 'queues']) {
      await page.click(`#tab-${tab}`);
      await page.waitForSelector(`.view.${tab}`);
      expect(await page.evaluate('document.documentElement.scrollWidth'), tab).toBe(390);
    }
    // The skip link leads here.
    expect(await page.locator('main#main').getAttribute('role')).toBeNull();
  });

  it('parks a key and takes it out again, with the token that `up` wrote', async () => {
    // The key of a rollout that goes on comes back by its deadline.
    await client.create(Deployment, aDeployment({ name: 'handled', replicas: 1, image: 'web:1-missing' }));
    // A change would take the key out again: the last one here is that its pod waits for the next pull.
    await waitFor(
      async () => {
        const { items } = await client.list<Pod>(Pod, { namespace: 'default' });
        const pod = items.find(({ metadata }) => metadata.name.startsWith('handled-'));
        return pod?.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'ImagePullBackOff';
      },
      { what: 'the pod to wait for its image' },
    );
    await open('#queues');
    const key = page.locator('.keys li', { hasText: /delayed\s*default\/handled/ });
    await key.getByText('Park').click();
    await page.waitForSelector('.dialog');
    await page.fill('input[name=token]', await up.adminToken());
    await page.keyboard.press('Enter');
    const parked = page.locator('.parked li', { hasText: 'default/handled' });
    await parked.waitFor();
    expect(await parked.textContent()).toContain('parked by hand');
    await parked.getByText('Try again').click();
    await parked.waitFor({ state: 'detached' });
  });

  it('shows the steps of a rollout, and approves of one in the name of the person, with the token', async () => {
    const canary = aDeployment({ name: 'canary', replicas: 4 });
    canary.metadata.annotations = { 'rollkeeper.dev/steps': '1; approve; 50%; approve' };
    await create(canary);
    await setImage('canary', 'web:2');
    await open('?deployment=default/canary');
    await page.waitForSelector('.rollout-track .current >> text=approve');
    expect(await page.locator('.rollout-track .done').count()).toBe(1);
    await page.click('.filters .waiting');
    expect(await text('.row')).toContain('canary');
    expect(await text('.row-say')).toMatch(/^it is at step 2 of 4/);
    expect(await page.locator('.row').count()).toBe(1);
    await page.click('.filters .all');
    await page.click('#ask-promote');
    await page.fill('.dialog input[name=by]', 'Anna');
    await page.click('.dialog button[type=submit]');
    await page.fill('.dialog input[name=token]', await up.adminToken());
    await page.click('.dialog button[type=submit]');
    await page.locator('.rollout-track .done').nth(2).waitFor();
    expect(await text('.rollout-track .steps')).toContain('Anna');
    await page.click('#ask-abort');
    await page.click('.dialog button[type=submit]');
    await page.waitForSelector('h2 .chip.complete');
    // The state comes with the feed, the explanation a moment after it.
    await page.waitForSelector('#sentence >> text=Rolled back');
    expect(await text('.revisions li.failed')).toContain('aborted by Anna');
  });

  it('shows what a way back changes before it goes back', async () => {
    await create(aDeployment({ name: 'undone', replicas: 2 }));
    await setImage('undone', 'web:2');
    await open('?deployment=default/undone');
    await page.click('[aria-label="Roll back to revision 1"]');
    await page.waitForSelector('.changes >> text=web:1');
    expect(await text('.changes')).toContain('container web: image');
    await page.fill('.dialog input[name=by]', 'Anna');
    await page.click('.dialog button[type=submit]');
    await page.fill('.dialog input[name=token]', await up.adminToken());
    await page.click('.dialog button[type=submit]');
    await page.waitForSelector('.set.new .image >> text=web:1');
  });

  it('lists what is wrong, says per node why a pod fits nowhere, and keeps what was looked for in the address', async () => {
    const big = aDeployment({ name: 'big' });
    (big.spec.template.spec ??= { containers: [] }).nodeSelector = { gpu: 'yes' };
    await client.create(Deployment, big);
    await open('#problems');
    await page.waitForSelector('.problem-list h3 >> text=big');
    await page.fill('.problem-tools input', 'no-such-thing');
    await page.waitForSelector('text=0 of');
    await page.fill('.problem-tools input', 'default/big');
    await page.waitForURL(/problem=default%2Fbig/);
    await page.click('text=Why, per node >> nth=0');
    await page.waitForSelector('.placement td >> text=NodeAffinity >> nth=0');
    expect(await text('.placement')).toContain("node(s) didn't match Pod's node affinity/selector");
    await page.keyboard.press('Escape');
    await page.waitForSelector('.placement', { state: 'detached' });
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  });

  it('scales and pauses a Deployment after a plain question, with a reason that is kept', async () => {
    await create(aDeployment({ name: 'acted', replicas: 1 }));
    await open('?deployment=default/acted');
    await page.click('.acts >> text=Scale');
    await page.fill('.dialog input[name=replicas]', '3');
    await page.fill('.dialog input[name=by]', 'Anna');
    await page.fill('.dialog input[name=reason]', 'sale');
    await page.click('.dialog button[type=submit]');
    await page.fill('.dialog input[name=token]', await up.adminToken());
    await page.click('.dialog button[type=submit]');
    await page.waitForSelector('.dialog >> text=scaled from 1 to 3');
    await page.click('#close-act');
    await page.waitForSelector('.rule >> text=3 desired');
    const events = await client.list<KubernetesObject & { message?: string }>(Event, {
      namespace: 'default',
    });
    expect(events.items.map(({ message }) => message)).toContain(
      'claimed by Anna (sale): scaled from 1 to 3',
    );
    await page.click('.acts >> text=Pause');
    await page.click('.dialog button[type=submit]');
    await page.waitForSelector('.dialog >> text=changes of its template are not rolled out');
    await page.click('#close-act');
    await page.waitForSelector('h2 .chip.paused');
    await page.waitForSelector('.acts >> text=Resume');
  });

  it('gives way to the pages that the same client opens after it, and goes on when somebody turns to it', async () => {
    await open();
    const { origin } = new URL(page.url());
    const others = new AbortController();
    // Held, or the garbage collection of a response ends its stream.
    const held: Response[] = [];
    try {
      for (let count = 0; count < 20; count++)
        held.push(await fetch(`${origin}/admin/events`, { signal: others.signal }));
      await page.waitForSelector('text=this one stopped');
      await page.click('.lost');
      await page.waitForSelector('.fact.live.on');
      expect(await page.locator('.lost').count()).toBe(0);
      expect(held.every(({ ok }) => ok)).toBe(true);
    } finally {
      others.abort();
    }
  });

  it('draws no more than what is in sight of a thousand Deployments', async () => {
    const names = Array.from({ length: 1000 }, (_, index) => `many-${String(index).padStart(4, '0')}`);
    for (let start = 0; start < names.length; start += 50) {
      const batch = names.slice(start, start + 50);
      await Promise.all(batch.map((name) => client.create(Deployment, aDeployment({ name, replicas: 0 }))));
    }
    await open();
    await page.fill('input[type=search]', 'many-');
    await page.waitForSelector('#rows[aria-label="1000 Deployments"]');
    expect(await page.locator('.row').count()).toBeLessThan(40);
    expect(await page.evaluate<number>(SCROLL_AND_COUNT_ROWS)).toBeLessThan(40);
  });
});
