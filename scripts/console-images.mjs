/**
 * Makes the images of the console in docs/images from a cluster that it furnishes. Needs a build and a Chromium:
 * `node -C rollkeeper:source --import tsx scripts/console-images.mjs [FOLDER]`
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchChromium } from '../test/e2e/support/chromium.js';
import { Up } from '../test/e2e/support/up.js';
import { TALKING_POD, furnish, rollOut } from '../test/nightly/support/console-world.js';

const folder = process.argv[2] ?? fileURLToPath(new URL('../docs/images', import.meta.url));
const SIZE = { width: 1280, height: 860 };

const [up, browser] = await Promise.all([Up.start({ args: ['--nodes', '3'] }), launchChromium()]);
const client = await up.client();
try {
  await furnish(client);
  const { replicas } = await up.status();
  const console = `${replicas[0]?.adminUrl}/console`;
  const page = await browser.newPage({ viewport: SIZE, colorScheme: 'light' });
  const open = async (address, ready) => {
    await page.goto(`${console}${address}`);
    await page.waitForSelector('.fact.live.on');
    await page.waitForSelector(ready);
  };
  const take = (name) => page.screenshot({ path: join(folder, `console-${name}.png`) });

  await open('?deployment=shop%2Fpayments', '.causes .blocked');
  await take('stuck');
  await open('?deployment=shop%2Fcheckout', '.rollout-track .current');
  await take('steps');
  await open(`?object=pods%2F${TALKING_POD.namespace}%2F${TALKING_POD.name}#objects`, '#yaml');
  await take('object');
  await open('?deployment=shop%2Ffrontend', 'h2 .chip.complete');
  await rollOut(client);
  await page.waitForSelector('.set.old');
  await page.waitForSelector('.set.new .dot.a');
  await take('rollout');
  await page.waitForSelector('h2 .chip.complete', { timeout: 120_000 });
  await page.locator('button.trace').first().click();
  await page.waitForSelector('.waterfall li');
  await take('trace');
  await page.keyboard.press('Escape');
  await page.click('text=Timeline');
  await page.waitForSelector('.past-chart polyline');
  await take('timeline');
} finally {
  await browser.close();
  await client.close();
  await up.stopAndRemove();
}
