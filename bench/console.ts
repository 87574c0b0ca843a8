import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession, Page } from 'playwright-core';
import type { HttpApiClient } from '../src/client/api-client/index.js';
import { waitFor } from '../src/testing/wait-for.js';
import { launchChromium } from '../test/e2e/support/chromium.js';
import { number, readFlags, text } from '../test/support/flags.js';
import { memoryOfPage, slopeOf } from '../test/support/page-memory.js';
import { setImage } from './support/deployments.js';
import { cpuSeconds, cpuSecondsOfTree, memoryOf } from './support/process-figures.js';
import { OthersShare } from './support/quiet-time.js';
import { ProcessSet } from './support/process-set.js';
import { steadyCluster } from './support/steady-cluster.js';

/*
 * The console in Chromium, before an embedded API server with very many Deployments: how soon the page is there, how soon a change that the
 * API has taken is on the screen, and whether the page's memory stays flat while changes go on. Garbage is collected before each figure of memory.
 */

const flags = readFlags('npm run bench -- --console', {
  deployments: number('Deployments', 5000),
  pods: number('pods of each', 2),
  loads: number('times that the page is opened', 5),
  changes: number('changes that are timed', 50),
  minutes: number('of changes while memory is looked at', 15),
  everyMs: number('between two of these changes, milliseconds', 500),
  settleSeconds: number('for the simulated nodes to settle, at most', 120),
  others: number('the share of the machine that others may take while time is measured, percent', 15),
  patience: number('how many times as often it is measured until enough are left', 4),
  main: text('the program to measure', join(import.meta.dirname, '..', 'dist', 'main.js')),
});

const PATIENCE_MS = 240_000;

/** In the page: when there is something to see, and when all Deployments are there; milliseconds since the navigation began. */
const WATCH_LOAD = `
  window.bench = { firstRow: 0, all: 0 };
  new MutationObserver((_changes, observer) => {
    const rows = document.getElementById('rows');
    if (!rows) return;
    const painted = (field) => {
      if (window.bench[field]) return;
      window.bench[field] = -1;
      requestAnimationFrame(() => setTimeout(() => (window.bench[field] = performance.now())));
    };
    if (rows.querySelector('.row')) painted('firstRow');
    if (rows.getAttribute('aria-label') === '${flags.deployments} Deployments') {
      painted('all');
      observer.disconnect();
    }
  }).observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ['aria-label'] });
`;

/** In the page: the time, since 1970, at which the row of a Deployment shows that it is rolling out. */
const WATCH_CHANGE = (name: string): string => `new Promise((resolve) => {
  const isShown = () =>
    [...document.querySelectorAll('#rows .row')].some(
      (row) => row.querySelector('.name').textContent === 'default/${name}' && !row.classList.contains('complete'),
    );
  const look = () => (isShown() ? setTimeout(() => resolve(performance.timeOrigin + performance.now())) : requestAnimationFrame(look));
  look();
})`;

const set = await ProcessSet.start({
  main: flags.main,
  env: {},
  objects: steadyCluster({ deployments: flags.deployments, pods: flags.pods, nodes: 3 }),
});
const browser = await launchChromium();
try {
  console.log(`${flags.deployments} Deployments of ${flags.pods} pods`);
  console.log(`  the replica is ready after ${(await set.addReplica()).toFixed(1)} s`);
  await set.add('node');
  const client = await set.client();
  await untilSettled();
  const url = `${set.adminUrlOf('controller')}/console`;
  await measureLoads(url);
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await open(page, url);
  await measureChanges(client, page);
  if (flags.minutes > 0) await measureMemory(client, page);
} finally {
  await browser.close();
  await set.stop();
}

/** The simulated nodes take over pods that they have not made. */
async function untilSettled(): Promise<void> {
  for (let round = 0; round < flags.settleSeconds / 5; round++) {
    const before = cpuSeconds(set.pidOf('apiserver'));
    await sleep(5000);
    if (cpuSeconds(set.pidOf('apiserver')) - before < 0.25) return;
  }
}

async function open(page: Page, url: string): Promise<void> {
  await page.addInitScript(WATCH_LOAD);
  await page.goto(url, { waitUntil: 'commit', timeout: PATIENCE_MS });
  // The page's content security policy forbids what `waitForFunction` does.
  await waitFor(() => page.evaluate<boolean>('window.bench.all > 0'), {
    ...{ timeoutMs: PATIENCE_MS, intervalMs: 50, what: 'the page to list all Deployments' },
  });
}

/** Takes figures until there are enough of those while others left the machine alone. */
async function quietly<T>(wanted: number, take: (attempt: number) => Promise<T>): Promise<readonly T[]> {
  const figures: T[] = [];
  let attempts = 0;
  for (; figures.length < wanted && attempts < wanted * flags.patience; attempts++) {
    const others = new OthersShare(() => cpuSecondsOfTree(process.pid));
    const figure = await take(attempts);
    if (others.now() <= flags.others / 100) figures.push(figure);
  }
  if (figures.length < attempts)
    console.log(
      `  others took more than ${flags.others} % of the machine in ${attempts - figures.length} of ${attempts}, which are left out`,
    );
  return figures;
}

/** Each in a browser's context of its own: nothing is in its cache. */
async function measureLoads(url: string): Promise<void> {
  const loads = await quietly(flags.loads, async () => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    await open(page, url);
    const figures = await page.evaluate<{ all: number; firstRow: number; paint: number }>(
      `({ ...window.bench, paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0 })`,
    );
    await context.close();
    return figures;
  });
  print(
    'first paint (ms)',
    loads.map(({ paint }) => paint),
  );
  print(
    'first rows (ms)',
    loads.map(({ firstRow }) => firstRow),
  );
  print(
    'all listed (ms)',
    loads.map(({ all }) => all),
  );
}

/** From the moment before the request to the frame that shows it. */
async function measureChanges(client: HttpApiClient, page: Page): Promise<void> {
  const shown = await quietly(flags.changes, async (attempt) => {
    const name = `web-${(attempt * 97) % flags.deployments}`;
    const seen = page.evaluate<number>(WATCH_CHANGE(name));
    const askedMs = performance.timeOrigin + performance.now();
    await setImage(client, name, `web:changed-${attempt}`);
    const figure = (await seen) - askedMs;
    await sleep(400);
    return figure;
  });
  print('a change shown (ms)', shown);
}

async function measureMemory(client: HttpApiClient, page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const stopper = new AbortController();
  const changing = changeOn(client, stopper.signal);
  const rows: number[] = [];
  const cpuBefore = await processorSeconds(session);
  for (let minute = 0; minute <= flags.minutes; minute++) {
    if (minute > 0) await sleep(60_000);
    const { heap, listeners, nodes } = await memoryOfPage(session);
    rows.push(heap);
    console.log(
      `  minute ${String(minute).padStart(3)}: heap ${heap.toFixed(1)} MiB, ${nodes} nodes, ${listeners} listeners; controller ${memoryOf(set.pidOf('controller')).resident.toFixed(0)} MiB`,
    );
  }
  const seconds = (await processorSeconds(session)) - cpuBefore;
  stopper.abort();
  const changes = await changing;
  // The first minutes fill what is kept of the past, such as decisions.
  const settled = rows.slice(Math.min(3, rows.length - 1));
  console.log(
    `  ${changes} changes; the page took ${((100 * seconds) / (flags.minutes * 60)).toFixed(1)} % of a core`,
  );
  console.log(
    `  controller ${memoryOf(set.pidOf('controller')).resident.toFixed(0)} MiB, ${cpuSeconds(set.pidOf('controller')).toFixed(0)} CPU s`,
  );
  print('heap after the first minutes (MiB)', settled, 1);
  console.log(`  growth ${(slopeOf(settled) * 60).toFixed(2)} MiB an hour`);
}

async function changeOn(client: HttpApiClient, signal: AbortSignal): Promise<number> {
  let changes = 0;
  for (; !signal.aborted; changes++) {
    const name = `web-${(changes * 613) % flags.deployments}`;
    await setImage(client, name, `web:again-${changes}`);
    await sleep(flags.everyMs, undefined, { signal }).catch(() => undefined);
  }
  return changes;
}

/** The CPU time of the page's main thread. */
async function processorSeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
}

function print(what: string, figures: readonly number[], digits = 0): void {
  if (figures.length === 0) return console.log(`  ${what.padEnd(36)} none`);
  const sorted = figures.toSorted((a, b) => a - b);
  const at = (part: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0).toFixed(digits);
  console.log(
    `  ${what.padEnd(36)} median ${at(0.5)}, 95 % ${at(0.95)}, most ${at(1)} of ${figures.length} (load ${loadavg()[0]?.toFixed(1)})`,
  );
}
