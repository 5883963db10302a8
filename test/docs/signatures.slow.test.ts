// The recipes of docs/signatures.md, run as they stand against the shared vectors and against forgeries
// of them, in every language that is on this machine. What takes long is left to the full size.

import { readFileSync } from 'node:fs'
import { beforeJavaClass, type Language, testRecipes, without } from '../support/recipes.ts'
import vectors from '../vectors/signatures.json' with { type: 'json' }

const PAGE = readFileSync(new URL('../../docs/signatures.md', import.meta.url), 'utf8')

interface Case {
  sharedKey: string
  body: string
  id: string
  timestamp: number
  now: number
  hmac: string
  signatures: string
  /** What the two functions of a recipe have to say. */
  expected: [hmac: boolean, standard: boolean]
}

const cases: Case[] = vectors.callbacks.flatMap((vector, index) => {
  const other = vectors.callbacks[(index + 1) % vectors.callbacks.length]
  const good: Case = {
    sharedKey: vector.sharedKey,
    body: vector.body,
    id: vector.webhookId,
    timestamp: vector.webhookTimestamp,
    now: vector.webhookTimestamp + 300,
    hmac: vector.hmac,
    signatures: vector.webhookSignature,
    expected: [true, true],
  }
  return [
    good,
    { ...good, signatures: `v1,${'A'.repeat(43)}= ${good.signatures}` },
    { ...good, now: good.now + 1, expected: [true, false] },
    { ...good, now: good.timestamp - 301, expected: [true, false] },
    { ...good, timestamp: good.timestamp + 1, expected: [true, false] },
    { ...good, id: '019c0b8e-3c00-7000-8000-000000000002', expected: [true, false] },
    { ...good, body: `${good.body}\n`, expected: [false, false] },
    { ...good, sharedKey: `${good.sharedKey}x`, expected: [false, false] },
    {
      ...good,
      hmac: good.hmac.toUpperCase(),
      signatures: good.signatures.slice(3),
      expected: [false, false],
    },
    {
      ...good,
      hmac: other?.hmac ?? '',
      signatures: other?.webhookSignature ?? '',
      expected: [false, false],
    },
    { ...good, hmac: '', signatures: '', expected: [false, false] },
  ] satisfies Case[]
})

/** A line each, with what may hold anything in base64: every language can read that. */
const INPUT = cases
  .map((one) => {
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const { sharedKey, body, id, timestamp, now, hmac, signatures } = one
    return [base64(sharedKey), base64(body), id, timestamp, now, hmac, signatures].join('\t')
  })
  .join('\n')

const LANGUAGES: Record<string, Language> = {
  TypeScript: {
    mark: 'ts',
    whyNot: () => null,
    files: (recipe) => ({
      'recipe.ts': recipe,
      'main.ts': `
import { readFileSync } from 'node:fs'
import { hmacHolds, standardHolds } from './recipe.ts'
for (const line of readFileSync(process.argv[2] as string, 'utf8').split('\\n')) {
  const [k, b, id, timestamp, now, hmac, signatures] = line.split('\\t') as string[]
  const key = Buffer.from(k as string, 'base64').toString()
  const body = Buffer.from(b as string, 'base64')
  console.log(hmacHolds(body, hmac!, key), standardHolds(body, id!, timestamp!, signatures!, key, Number(now)))
}`,
    }),
    command: [process.execPath, 'main.ts'],
  },
  Python: {
    mark: 'python',
    whyNot: () => without('python3'),
    files: (recipe) => ({
      'main.py': `${recipe}
import sys
for line in open(sys.argv[1], encoding="ascii").read().split("\\n"):
    k, b, id, timestamp, now, hmac_, signatures = line.split("\\t")
    key, body = base64.b64decode(k).decode(), base64.b64decode(b)
    print(hmac_holds(body, hmac_, key), standard_holds(body, id, timestamp, signatures, key, float(now)))
`,
    }),
    command: ['python3', 'main.py'],
  },
  Go: {
    mark: 'go',
    whyNot: () => without('go'),
    files: (recipe) => ({
      'go.mod': 'module recipe\n\ngo 1.21\n',
      'recipe.go': recipe,
      'main.go': `package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	input, _ := os.ReadFile(os.Args[1])
	for _, line := range strings.Split(string(input), "\\n") {
		f := strings.Split(line, "\\t")
		key, _ := base64.StdEncoding.DecodeString(f[0])
		body, _ := base64.StdEncoding.DecodeString(f[1])
		now, _ := strconv.ParseInt(f[4], 10, 64)
		fmt.Println(hmacHolds(body, f[5], string(key)), standardHolds(body, f[2], f[3], f[6], string(key), now))
	}
}
`,
    }),
    command: ['go', 'run', '.'],
  },
  Java: {
    mark: 'java',
    whyNot: () => without('java'),
    files: (recipe) => ({
      'Main.java': beforeJavaClass(
        recipe,
        `class Main {
    public static void main(String[] args) throws Exception {
        for (String line : java.nio.file.Files.readString(java.nio.file.Path.of(args[0])).split("\\n")) {
            String[] f = line.split("\\t", -1);
            String key = new String(Base64.getDecoder().decode(f[0]), StandardCharsets.UTF_8);
            byte[] body = Base64.getDecoder().decode(f[1]);
            System.out.println(PaybellSignature.hmacHolds(body, f[5], key) + " "
                + PaybellSignature.standardHolds(body, f[2], f[3], f[6], key, Long.parseLong(f[4])));
        }
    }
}`,
      ),
    }),
    command: ['java', 'Main.java'],
  },
  PHP: {
    mark: 'php',
    whyNot: () => without('php'),
    files: (recipe) => ({
      'main.php': `${recipe}
foreach (explode("\\n", file_get_contents($argv[1])) as $line) {
    [$k, $b, $id, $timestamp, $now, $hmac, $signatures] = explode("\\t", $line);
    [$key, $body] = [base64_decode($k), base64_decode($b)];
    $holds = [hmac_holds($body, $hmac, $key), standard_holds($body, $id, $timestamp, $signatures, $key, (int) $now)];
    echo implode(' ', array_map('var_export', $holds, [true, true])), "\\n";
}
`,
    }),
    command: ['php', 'main.php'],
  },
  Ruby: {
    mark: 'ruby',
    whyNot: () => without('ruby'),
    files: (recipe) => ({
      'main.rb': `${recipe}
File.read(ARGV[0]).split("\\n").each do |line|
  k, b, id, timestamp, now, hmac, signatures = line.split("\\t", -1)
  key, body = k.unpack1('m0'), b.unpack1('m0')
  puts "#{hmac_holds?(body, hmac, key)} #{standard_holds?(body, id, timestamp, signatures, key, now.to_i)}"
end
`,
    }),
    command: ['ruby', 'main.rb'],
  },
  'C#': {
    mark: 'csharp',
    whyNot: () => without('dotnet'),
    files: (recipe) => ({
      'Recipe.cs': recipe,
      'Program.cs': `using System.Text;
foreach (var line in System.IO.File.ReadAllText(args[0]).Split('\\n'))
{
    var f = line.Split('\\t');
    var key = Encoding.UTF8.GetString(System.Convert.FromBase64String(f[0]));
    var body = System.Convert.FromBase64String(f[1]);
    System.Console.WriteLine(PaybellSignature.HmacHolds(body, f[5], key) + " "
        + PaybellSignature.StandardHolds(body, f[2], f[3], f[6], key, long.Parse(f[4])));
}
`,
      'recipe.csproj': `<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType>
<TargetFramework>net$(BundledNETCoreAppTargetFrameworkVersion)</TargetFramework></PropertyGroup></Project>`,
    }),
    command: ['dotnet', 'run', '--project', '.', '--'],
  },
  Shell: {
    mark: 'sh',
    whyNot: () => without('openssl'),
    files: (recipe) => ({
      'main.sh': `set -eu
${recipe}
while IFS='|' read -r k b id timestamp now hmac signatures; do
  key=$(printf %s "$k" | openssl base64 -d -A; printf .)
  key=\${key%.}
  printf %s "$b" | openssl base64 -d -A > body.json
  first=true second=true
  hmac_holds body.json "$hmac" "$key" || first=false
  standard_holds body.json "$id" "$timestamp" "$signatures" "$key" "$now" || second=false
  echo "$first $second"
done < piped
`,
      // A tab is white space to the shell, which would swallow empty fields.
      piped: `${INPUT.replaceAll('\t', '|')}\n`,
    }),
    command: ['sh', 'main.sh'],
  },
}

testRecipes({
  page: PAGE,
  mark: 'recipe',
  what: 'the recipe',
  languages: LANGUAGES,
  input: INPUT,
  expected: cases.map(({ expected, ...one }) => ({
    line: expected.join(' '),
    of: JSON.stringify(one),
  })),
})
