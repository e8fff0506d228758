import type { Abi, Hex } from "viem";

/** A built contract, as it is committed. */
export interface ContractArtifact {
  readonly contractName: string;
  readonly abi: Abi;
  /** Creation code, without constructor arguments. */
  readonly bytecode: Hex;
  /** Runtime code with zeros where the immutables go. */
  readonly deployedBytecode: Hex;
  /** Where each immutable stands in the runtime code, by its name; offsets in bytes, 32 long. */
  readonly immutables: Readonly<Record<string, readonly number[]>>;
  /** Full version of the compiler. */
  readonly compiler: string;
}

/** Source text by file name; imports are resolved among these files only. */
export type SourceFiles = Readonly<Record<string, string>>;

/**
 * The settings of every build. Metadata is left out of the code, so that the code depends on the
 * sources and the compiler alone and a rebuild on any machine gives the same bytes. `runs` is far
 * above what any swap executor sees: the code is tuned for the gas of a swap, not of deployment.
 */
const SETTINGS = {
  evmVersion: "cancun",
  viaIR: true,
  optimizer: { enabled: true, runs: 1_000_000 },
  metadata: { bytecodeHash: "none", appendCBOR: false },
  outputSelection: {
    "*": {
      "": ["ast"],
      "*": [
        "abi",
        "evm.bytecode.object",
        "evm.deployedBytecode.object",
        "evm.deployedBytecode.immutableReferences",
      ],
    },
  },
};

interface AstNode {
  readonly id?: number;
  readonly name?: string;
  readonly nodes?: readonly AstNode[];
}

interface CompiledContract {
  readonly abi: Abi;
  readonly evm: {
    readonly bytecode: { readonly object: string };
    readonly deployedBytecode: {
      readonly object: string;
      readonly immutableReferences?: Record<string, readonly { start: number }[]>;
    };
  };
}

interface CompilerOutput {
  readonly errors?: readonly { severity: string; formattedMessage: string }[];
  readonly sources: Record<string, { readonly ast: AstNode }>;
  readonly contracts: Record<string, Record<string, CompiledContract>>;
}

/**
 * Compiles Solidity sources, the same bytes for the same input everywhere.
 * The compiler is a development dependency and is loaded only here.
 * @param sources - every file needed, by the name imports use without its `./`
 * @returns the artifacts of the contracts that are named as their file; abstract ones and
 * interfaces have none
 * @throws Error with the compiler's message on any error or warning
 */
export async function compileContracts(sources: SourceFiles): Promise<ContractArtifact[]> {
  const { default: solc } = await import("solc");
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(
      Object.entries(sources).map(([file, content]) => [file, { content }]),
    ),
    settings: SETTINGS,
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as CompilerOutput;
  const problems = output.errors ?? [];
  if (problems.length > 0) {
    throw new Error(problems.map((problem) => problem.formattedMessage).join("\n"));
  }

  const names = declarationNames(output.sources);
  const compiler = solc.version() as string;
  return Object.entries(output.contracts)
    .flatMap(([file, contracts]) => {
      const contractName = file.replace(/\.sol$/, "");
      const compiled = contracts[contractName];
      if (!compiled?.evm.bytecode.object) return [];
      return [toArtifact(contractName, compiled, names, compiler)];
    })
    .sort((a, b) => a.contractName.localeCompare(b.contractName));
}

function toArtifact(
  contractName: string,
  { abi, evm }: CompiledContract,
  names: ReadonlyMap<string, string>,
  compiler: string,
): ContractArtifact {
  const references = Object.entries(evm.deployedBytecode.immutableReferences ?? {});
  return {
    contractName,
    compiler,
    abi: JSON.parse(JSON.stringify(abi, withoutInternalTypes)) as Abi,
    bytecode: `0x${evm.bytecode.object}`,
    deployedBytecode: `0x${evm.deployedBytecode.object}`,
    immutables: Object.fromEntries(
      references
        .map(([id, at]) => [names.get(id) ?? id, at.map(({ start }) => start)] as const)
        .sort(([a], [b]) => a.localeCompare(b)),
    ),
  };
}

/** The compiler's own type names are no part of the ABI and double its length. */
function withoutInternalTypes(key: string, value: unknown): unknown {
  return key === "internalType" ? undefined : value;
}

/** Names of the contracts' state variables by AST id, which is how the compiler refers to them. */
function declarationNames(sources: CompilerOutput["sources"]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { ast } of Object.values(sources)) {
    for (const contract of ast.nodes ?? []) {
      for (const member of contract.nodes ?? []) {
        if (member.id !== undefined && member.name) names.set(String(member.id), member.name);
      }
    }
  }
  return names;
}
