import { request } from 'node:https';
import { errorMessage } from '@rollkeeper/machinery/errors';

export interface ComponentHealth {
  readonly isHealthy: boolean;
  readonly message: string;
}

const TIMEOUT_MS = 2000;

/**
 * Asks a component of the control plane on this machine for its health, as a genuine server does: without checking whose
 * certificate it is, because nothing is sent that is worth protecting.
 */
export function probeComponent(port: number, signal: AbortSignal): Promise<ComponentHealth> {
  const url = `https://127.0.0.1:${port}/healthz`;
  const failed = (error: unknown): ComponentHealth => ({
    isHealthy: false,
    message: `Get "${url}": ${wordsOf(error, port)}`,
  });
  return new Promise((resolve) => {
    const asked = request(url, { rejectUnauthorized: false, timeout: TIMEOUT_MS, signal }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text = (text + chunk).slice(0, 1024)));
      response.on('end', () => resolve({ isHealthy: response.statusCode === 200, message: text }));
      response.on('error', (error) => resolve(failed(error)));
    });
    asked.on('timeout', () => asked.destroy(new Error('context deadline exceeded')));
    asked.on('error', (error) => resolve(failed(error)));
    asked.end();
  });
}

/** In the words of Go. */
function wordsOf(error: unknown, port: number): string {
  const isRefused = (error as { readonly code?: unknown }).code === 'ECONNREFUSED';
  return isRefused ? `dial tcp 127.0.0.1:${port}: connect: connection refused` : errorMessage(error);
}
