import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { Deployment, Event, Pod } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { chromiumPath, launchChromium } from '../e2e/support/chromium.js';
import { Up } from '../e2e/support/up.js';

const EVIL =
  '"\'><img src=x onerror="window.hacked=1"><script>window.hacked=1</script><a href="javascript:hacked=1">x</a>';

if (!chromiumPath) console.warn('\n*** no chromium here: the tests of markup are SKIPPED ***\n');

// A tenant writes these texts, and an operator with more rights looks at them.
describe.skipIf(!chromiumPath)('markup in texts of users', () => {
  let up: Up;
  let client: HttpApiClient;
  let browser: Browser;
  let page: Page;
  let origin: string;
  let pod: string;
  const opened: string[] = [];

  beforeAll(async () => {
    const args = ['--', '--problems-interval-ms', '1000'];
    [up, browser] = await Promise.all([Up.start({ args }), launchChromium()]);
    client = await up.client();
    origin = (await up.status()).replicas[0]?.adminUrl ?? '';
    const deployment = aDeployment({ name: 'web', image: `web:missing${EVIL.replaceAll(/\s/g, '/')}` });
    deployment.metadata.annotations = {
      'rollkeeper.dev/history': '14d',
      'kubernetes.io/change-cause': EVIL,
      'rollkeeper.dev/changed-by': EVIL,
      'rollkeeper.dev/scaled-by': EVIL,
      'rollkeeper.dev/steps': EVIL,
      'rollkeeper.dev/freeze': EVIL,
      'rollkeeper.dev/approve': EVIL,
      'rollkeeper.dev/abort': EVIL,
      [`example.com/note`]: EVIL,
    };
    await client.create(Deployment, deployment);
    const healthy = aDeployment({ name: 'healthy', annotations: { 'node.rollkeeper.dev/logs.web': EVIL } });
    await client.create(Deployment, healthy);
    pod = await waitFor(
      async () => {
        const { items } = await client.list<Pod>(Pod, { namespace: 'default' });
        return items.find(({ metadata }) => metadata.name.startsWith('healthy-'))?.metadata.name;
      },
      { what: 'a pod' },
    );
    await client.create(Event, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'evil', namespace: 'default' },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: pod },
      ...{ type: 'Warning', reason: EVIL, message: EVIL, source: { component: EVIL } },
    } as KubernetesObject);
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.on('dialog', (dialog) => {
      opened.push(dialog.message());
      void dialog.dismiss();
    });
  });
  afterAll(async () => {
    await browser?.close();
    await client?.close();
    await up?.stopAndRemove();
  });

  it.each([
    ['a Deployment', () => '?deployment=default/web'],
    ['a Deployment that works', () => '?deployment=default/healthy'],
    ['a pod', () => `?object=pods/default/${pod}#objects`],
    ['the queues', () => '#queues'],
    ['the problems', () => '#problems'],
    ['a filter', () => `?find=${encodeURIComponent(EVIL)}`],
    ['a Deployment that does not exist', () => `?deployment=${encodeURIComponent(`default/${EVIL}`)}`],
    ['a question', () => `?deployment=default/web&ask=${encodeURIComponent(`scale:${EVIL}`)}`],
  ])('is text on the page of %s', async (_what, address) => {
    await page.goto(`${origin}/console${address()}`);
    await page.waitForSelector('.fact.live.on');
    // Objects that come in later are drawn within a turn of the feed.
    await page.waitForFunction('document.body.innerText.length > 100');
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    const injected = await page.evaluate<number>(
      `document.querySelectorAll('img[src="x"], script:not([src]), [onerror], a[href^="javascript:"]').length`,
    );
    expect(injected).toBe(0);
    expect(opened).toEqual([]);
  });
});
