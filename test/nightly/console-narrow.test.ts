import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chromiumPath, launchChromium } from '../e2e/support/chromium.js';
import { Up } from '../e2e/support/up.js';
import { furnish } from './support/console-world.js';

const TELEPHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 860 };
const APPROVAL = '?deployment=shop%2Fcheckout';

/** In the page: the tabs that are not wholly within the window, and how many rows of tabs there are. */
const TABS = `(() => {
  const boxes = [...document.querySelectorAll('[role=tab]')].map((tab) => tab.getBoundingClientRect());
  return {
    cut: boxes.filter(({ left, right }) => left < 0 || right > innerWidth).length,
    rows: new Set(boxes.map(({ top }) => Math.round(top))).size,
  };
})()`;

if (!chromiumPath) console.warn('\n*** no chromium here: the tests of the narrow console are SKIPPED ***\n');

describe.skipIf(!chromiumPath)('the console', () => {
  let up: Up;
  let browser: Browser;
  let page: Page;
  let url: string;

  beforeAll(async () => {
    [up, browser] = await Promise.all([Up.start({ args: ['--replicas', '1'] }), launchChromium()]);
    const client = await up.client();
    await furnish(client);
    await client.close();
    url = `${(await up.status()).replicas[0]?.adminUrl}/console`;
    page = await browser.newPage();
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await up?.stopAndRemove();
  });
  beforeEach(async () => {
    await page.goto('about:blank');
    await page.setViewportSize(DESK);
  });

  const open = async (address: string, ready: string): Promise<void> => {
    await page.goto(url + address);
    await page.waitForSelector('.fact.live.on');
    await page.waitForSelector(ready);
  };
  const text = async (selector: string): Promise<string> => (await page.textContent(selector)) ?? '';

  describe('on a telephone', () => {
    beforeEach(() => page.setViewportSize(TELEPHONE));

    it('has a bar of two rows with all tabs in sight', async () => {
      await open('', '.row');
      expect(await page.evaluate(TABS)).toEqual({ cut: 0, rows: 1 });
      expect((await page.locator('.bar').boundingBox())?.height).toBeLessThan(100);
    });

    it('shows the list first, down to the end of the window, and then one Deployment in its place', async () => {
      await open('', '.row');
      expect(await page.isVisible('.detail')).toBe(false);
      const list = await page.locator('.list').boundingBox();
      expect(Math.round((list?.y ?? 0) + (list?.height ?? 0))).toBe(TELEPHONE.height);
      await page.click('.row >> text=checkout');
      await page.waitForSelector('.detail h2 >> text=checkout');
      expect(await page.isVisible('.list')).toBe(false);
      expect(await page.isVisible('#ask-promote')).toBe(true);
      await page.click('text=All Deployments');
      await page.waitForSelector('.row', { state: 'visible' });
      expect(await page.isVisible('.detail')).toBe(false);
      await page.goBack();
      await page.waitForSelector('.detail h2 >> text=checkout', { state: 'visible' });
    });

    it('stays at the list while the keys walk it, and opens what Enter chooses', async () => {
      await open('', '.row');
      await page.focus('#rows');
      await page.keyboard.press('ArrowDown');
      await page.waitForSelector('.row[aria-selected=true]');
      expect(await page.isVisible('.list')).toBe(true);
      await page.keyboard.press('Enter');
      await page.waitForSelector('.detail h2', { state: 'visible' });
      expect(await page.isVisible('.list')).toBe(false);
    });

    it('shows objects in the same way', async () => {
      await open('#objects', '.object-row');
      expect(await page.isVisible('.detail')).toBe(false);
      await page.click('.object-row >> nth=0');
      await page.waitForSelector('#yaml');
      await page.click('text=All objects');
      await page.waitForSelector('.object-row', { state: 'visible' });
    });
  });

  it('says of a rollout that waits for an approval that it does, in the list and beside its name', async () => {
    await open(APPROVAL, '#ask-promote');
    expect(await text('.row[aria-selected=true] .chip')).toBe('Waits for approval');
    expect(await text('h2 .chip')).toBe('Waits for approval');
  });

  it('makes the approval the main action, before all others', async () => {
    await open(APPROVAL, '#ask-promote');
    expect(await page.locator('.detail .primary').count()).toBe(1);
    expect(await page.locator('.detail .act-row button').first().getAttribute('id')).toBe('ask-promote');
  });

  it('says once what a rollout waits for', async () => {
    await open(APPROVAL, '.sums');
    const waits = (await text('.detail')).match(/waits for an approval/g);
    // The decisions tell of it as well, at the time that they were taken.
    const decided = (await text('.detail .timeline')).match(/waits for an approval/g);
    expect((waits?.length ?? 0) - (decided?.length ?? 0)).toBe(1);
    await open('?deployment=shop%2Fpayments', '.causes .blocked');
    expect((await text('.detail header')).match(/cannot be pulled/g)).toHaveLength(1);
    expect(await text('.causes')).not.toContain('cannot be pulled');
    expect(await text('.causes .blocked')).toMatch(/image-pull\s+payments-/);
  });

  it('says to those who have not signed in how they do, and signs them in with the token', async () => {
    await open(APPROVAL, '#sign-in');
    await page.click('#sign-in');
    await page.waitForSelector('.dialog [name=token]');
    expect(await text('.dialog')).toContain(`rollkeeper console --admin-url ${new URL(url).origin}`);
    expect(await text('.dialog')).toContain('admin-token');
    await page.fill('.dialog [name=token]', await up.adminToken());
    await page.keyboard.press('Enter');
    await page.waitForSelector('.who >> text=admin token');
    expect(await page.locator('#sign-in').count()).toBe(0);
    await page.click('.who >> text=Sign out');
    await page.waitForSelector('#sign-in');
  });
});
