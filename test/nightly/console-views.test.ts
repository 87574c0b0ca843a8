import axe from 'axe-core';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { chromiumPath, launchChromium } from '../e2e/support/chromium.js';
import { Up, rollkeeper } from '../e2e/support/up.js';
import { TALKING_POD, furnish } from './support/console-world.js';

const WIDTHS = [390, 768, 1024, 1440];
const TALKING = `${TALKING_POD.namespace}/${TALKING_POD.name}`;

/** Everything that one can look at: what it is called, its address, and what is there once it is read. */
const VIEWS: readonly (readonly [name: string, address: string, ready: string])[] = [
  ['a rollout that is stuck', '?deployment=shop/payments', '.causes .blocked'],
  ['a rollout at a step', '?deployment=shop/checkout', '.rollout-track .current'],
  ['a rollout that is complete', '?deployment=billing/ledger', 'h2 .chip.complete'],
  [
    'the list with a release that is chosen',
    '?find=ns:=shop+release:=shop-42',
    '.releases [aria-pressed=true]',
  ],
  ['a StatefulSet at a step', '?deployment=shop/orders%3Fkind%3DStatefulSet', '.rollout-track .current'],
  ['a DaemonSet at a step', '?deployment=shop/agent%3Fkind%3DDaemonSet', '.rollout-track .current'],
  ['the list with rows of sets', '?find=kind:set', '.row .kind'],
  ['the time line', '?deployment=shop/checkout&look=timeline', '.past-entries li'],
  [
    'the time line of a StatefulSet',
    '?deployment=shop/orders%3Fkind%3DStatefulSet&look=timeline',
    '.past >> text=There is no chart',
  ],
  ['the filter without a hit', '?find=no-such-thing', '.list .empty'],
  ['problems', '#problems', '.problem-list li'],
  ['objects', '#objects', '.object-row'],
  ['a pod', `?object=pods/${TALKING}#objects`, '#yaml'],
  ['a StatefulSet', '?kind=statefulsets&object=statefulsets/billing/db#objects', '.relations'],
  ['a node', '?kind=nodes&object=nodes/node-1#objects', '.relations'],
  ['an object that is gone', '?object=pods/shop/gone#objects', '.detail .error'],
  ['replicas', '#replicas', '.card'],
  ['queues', '#queues', '.queue-detail'],
  ['objectives', '#objectives', '.objective table'],
  ['clusters', '#clusters', '.clusters >> text=does not answer'],
  ['the question of an act', '?deployment=shop/payments&ask=scale:deployments/shop/payments', '.dialog'],
  ['the question of a drain', '?object=nodes/node-1&ask=drain:nodes/node-1#objects', '.dialog'],
  ['the question of a way back', '?deployment=shop/payments&ask=undo:rollouts/shop/payments@1', '.changes'],
];

/** A file of spans with one trace, of a request and what was seen of it. */
const SPANS = {
  name: 'spans.json',
  mimeType: 'application/json',
  buffer: Buffer.from(
    JSON.stringify({
      resourceSpans: [
        {
          resource: { attributes: [{ key: 'service.instance.id', value: { stringValue: 'replica-1' } }] },
          scopeSpans: [
            {
              spans: ['', 'a'].map((parentSpanId, index) => ({
                ...{ traceId: 't', spanId: 'ab'[index], parentSpanId },
                name: ['PATCH deployments', 'change seen'][index],
                startTimeUnixNano: `180000000000${index}000000`,
                endTimeUnixNano: '1800000000005000000',
              })),
            },
          ],
        },
      ],
    }),
  ),
};

/** Another cluster, whose console does not answer. */
const OTHERS = ['--console-clusters', 'production-elsewhere=http://127.0.0.1:9'];

/** In the page: what is wider than the window, unless it can be scrolled there. */
const OUTSIDE = `(() => {
  const scrolls = (element) => {
    for (let up = element.parentElement; up; up = up.parentElement)
      if (/auto|scroll|hidden/.test(getComputedStyle(up).overflowX) && up !== document.body) return true;
    return false;
  };
  return [...document.querySelectorAll('#app *')]
    .filter((each) => {
      const { left, right, width } = each.getBoundingClientRect();
      return width > 0 && (right > innerWidth + 1 || left < -1) && !scrolls(each);
    })
    .slice(0, 5)
    .map((each) => each.tagName + '.' + each.getAttribute('class'));
})()`;

if (!chromiumPath) console.warn('\n*** no chromium here: the tests of the views are SKIPPED ***\n');

describe.skipIf(!chromiumPath)('the views of the console', () => {
  let up: Up;
  let client: HttpApiClient;
  let browser: Browser;
  let page: Page;
  let url: string;

  beforeAll(async () => {
    [up, browser] = await Promise.all([Up.start({ args: ['--', ...OTHERS] }), launchChromium()]);
    client = await up.client();
    await furnish(client);
    url = `${(await up.status()).replicas[0]?.adminUrl}/console`;
    page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await client?.close();
    await up?.stopAndRemove();
  });

  const open = async (address: string, ready: string): Promise<void> => {
    // Another page first: a change of the fragment alone loads nothing.
    await page.goto('about:blank');
    await page.goto(url + address);
    await page.waitForSelector('.fact.live.on');
    await page.waitForSelector(ready);
  };

  /** Once; the session is that of the page. */
  const signIn = async (): Promise<void> => {
    if (page.url().startsWith(url) && (await page.locator('.who').count()) > 0) return;
    await page.goto('about:blank');
    await page.goto((await rollkeeper('console', '--data-dir', up.dataDir)).stdout.trim());
    await page.waitForSelector('.who');
  };

  const findings = async (): Promise<readonly string[]> => {
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate<AxeResults>('axe.run(document)');
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
  };

  describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
    it.each(VIEWS)('has no faults that axe finds in %s', async (_name, address, ready) => {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await open(address, ready);
      expect(await findings()).toEqual([]);
    });

    it('has none in the palette and the dialog for a token', async () => {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await open('?deployment=shop/payments', '.causes .blocked');
      await page.keyboard.press('Control+k');
      await page.waitForSelector('.palette [role=option]');
      expect(await findings()).toEqual([]);
      await page.keyboard.press('Escape');
      await page.waitForSelector('.palette', { state: 'detached' });
      await open(`?object=pods/${TALKING}#objects`, '#follow-log');
      await page.click('#follow-log');
      await page.waitForSelector('.dialog [name=token]');
      expect(await findings()).toEqual([]);
    });

    it('has none in the traces of a file, and in the waterfall of one', async () => {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await open('#replicas', '.card');
      await page.keyboard.press('Control+k');
      await page.fill('#palette-text', 'file of spans');
      await page.keyboard.press('Enter');
      await page.setInputFiles('#trace-file', SPANS);
      await page.waitForSelector('.traces li');
      expect(await findings()).toEqual([]);
      await page.click('.traces button');
      await page.waitForSelector('.waterfall li');
      expect(await page.locator('.waterfall li').count()).toBe(2);
      expect(await findings()).toEqual([]);
    });
  });

  it.each(VIEWS)(
    'is within the window at every width for one who has signed in: %s',
    async (_name, address, ready) => {
      await signIn();
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        await open(address, ready);
        expect(await page.evaluate<number>('document.documentElement.scrollWidth'), `${width}`).toBe(width);
        expect(await page.evaluate<string[]>(OUTSIDE), `${width}`).toEqual([]);
      }
    },
  );
});
