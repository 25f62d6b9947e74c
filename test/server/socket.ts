import { connect } from 'node:net';
import { onTestFinished } from 'vitest';

/** Opens a connection, which the end of the test closes, and collects the answer. */
export function openSocket(port: number) {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let answer = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (answer += chunk));
  socket.on('error', () => undefined);
  return { socket, answer: () => answer, closed: new Promise((resolve) => socket.once('close', resolve)) };
}

/** Sends bytes over a new connection and returns the whole answer once the other side has closed. */
export async function sendRaw(port: number, text: string): Promise<string> {
  const { socket, answer, closed } = openSocket(port);
  socket.write(text, 'latin1');
  await closed;
  return answer();
}
