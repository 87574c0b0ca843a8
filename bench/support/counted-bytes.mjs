// Loaded into a replica before its own code: counts the bytes that come from the API, those of TLS included. In the process itself,
// so that nothing stands in between that would need a processor of its own. It answers the question of `ManagedProcess.work`.
import { subscribe } from 'node:diagnostics_channel';

const open = new Set();
let ofClosed = 0;

subscribe('undici:client:connected', ({ socket }) => {
  open.add(socket);
  socket.once('close', () => {
    open.delete(socket);
    ofClosed += socket.bytesRead;
  });
});

process.on('message', (message) => {
  if (message?.chaos !== 'work') return;
  const ofOpen = [...open].reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  process.send?.({ type: 'worked', apiReceived: ofClosed + ofOpen });
});
