/**
 * Drivers of the documents' examples. Each program takes five arguments per request (secret, id, timestamp, signatures,
 * and the body in base64; an empty one is a missing header) and prints true or false for each.
 */
export interface Example {
  tools: string[];
  file: string;
  files: Record<string, string>;
  build?: string[][];
  run(folder: string): string[];
}

const javascript = `
import { verify } from './verify.mjs';
const fields = process.argv.slice(2);
while (fields.length > 0) {
  const [secret, id, timestamp, signature, body] = fields.splice(0, 5);
  const all = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  const headers = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
  console.log(verify(headers, Buffer.from(body, 'base64'), secret));
}
`;

const python = `
import base64, sys
from verify import verify

fields = sys.argv[1:]
for start in range(0, len(fields), 5):
    secret, id, timestamp, signature, body = fields[start : start + 5]
    headers = {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature}
    given = {name: value for name, value in headers.items() if value}
    print("true" if verify(given, base64.b64decode(body), secret) else "false")
`;

const go = `
package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"webhook"
)

func main() {
	fields := os.Args[1:]
	for ; len(fields) > 0; fields = fields[5:] {
		headers := map[string]string{}
		for place, name := range []string{"id", "timestamp", "signature"} {
			headers["webhook-"+name] = fields[place+1]
		}
		body, _ := base64.StdEncoding.DecodeString(fields[4])
		header := func(name string) string { return headers[name] }
		fmt.Println(webhook.Verify(header, body, fields[0]))
	}
}
`;

const java = `
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;

class Main {
  public static void main(String[] fields) throws Exception {
    for (int start = 0; start < fields.length; start += 5) {
      Map<String, String> headers = new HashMap<>();
      String[] names = {"webhook-id", "webhook-timestamp", "webhook-signature"};
      for (int place = 0; place < 3; place++)
        if (!fields[start + 1 + place].isEmpty()) headers.put(names[place], fields[start + 1 + place]);
      byte[] body = Base64.getDecoder().decode(fields[start + 4]);
      System.out.println(Webhook.verify(headers::get, body, fields[start]));
    }
  }
}
`;

const ruby = `
require_relative 'verify'

ARGV.each_slice(5) do |secret, id, timestamp, signature, body|
  headers = { 'webhook-id' => id, 'webhook-timestamp' => timestamp, 'webhook-signature' => signature }
  puts verify(headers.reject { |_, value| value.empty? }, body.unpack1('m'), secret)
end
`;

const php = `<?php
require 'verify.php';
foreach (array_chunk(array_slice($argv, 1), 5) as [$secret, $id, $timestamp, $signature, $body]) {
    $headers = ['webhook-id' => $id, 'webhook-timestamp' => $timestamp, 'webhook-signature' => $signature];
    echo verify(array_filter($headers, 'strlen'), base64_decode($body), $secret) ? 'true' : 'false', "\\n";
}
`;

export const examples: Record<string, Example> = {
  js: {
    tools: ['node'],
    file: 'verify.mjs',
    files: { 'main.mjs': javascript },
    run: () => [process.execPath, 'main.mjs'],
  },
  python: {
    tools: ['python3'],
    file: 'verify.py',
    files: { 'main.py': python },
    run: () => ['python3', 'main.py'],
  },
  go: {
    tools: ['go'],
    file: 'verify.go',
    files: { 'program/main.go': go, 'go.mod': 'module webhook\n\ngo 1.19\n' },
    build: [['go', 'build', '-o', 'verify', './program']],
    run: (folder) => [`${folder}/verify`],
  },
  java: {
    tools: ['java', 'javac'],
    file: 'Webhook.java',
    files: { 'Main.java': java },
    build: [['javac', 'Webhook.java', 'Main.java']],
    run: () => ['java', 'Main'],
  },
  ruby: {
    tools: ['ruby'],
    file: 'verify.rb',
    files: { 'main.rb': ruby },
    run: () => ['ruby', 'main.rb'],
  },
  php: {
    tools: ['php'],
    file: 'verify.php',
    files: { 'main.php': php },
    run: () => ['php', 'main.php'],
  },
};
