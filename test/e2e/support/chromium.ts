import { spawnSync } from 'node:child_process';
import type { Browser } from 'playwright-core';
import { chromium } from 'playwright-core';

const CANDIDATES = [
  process.env['CHROMIUM_PATH'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** A Chromium that starts here; undefined: none. */
export const chromiumPath = CANDIDATES.find(
  (path) => path !== undefined && spawnSync(path, ['--version']).status === 0,
);

/** Starts a browser that connects to no other address than that of the page. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
