// Unit tests run beside each other and anywhere, and wait for nothing: what opens a socket belongs to test/integration.
import { Server, Socket } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { replaceFunctions } from '../../src/testing/replace-functions.js';

function refuse(): never {
  throw new Error('a unit test opens no socket: this one belongs to test/integration');
}

let restore: (() => void)[];

beforeAll(() => {
  restore = [
    replaceFunctions(Server.prototype, { listen: refuse }),
    replaceFunctions(Socket.prototype, { connect: refuse }),
  ];
});
afterAll(() => {
  for (const each of restore) each();
});
