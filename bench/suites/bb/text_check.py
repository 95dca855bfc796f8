"""What the text of a folder may say: nothing by which PyTorch (or anything else than the library) would compute.

Of PyTorch it may name what makes memory and tells types (TORCH), and of tensors what tells or turns their shape (TENSORS): that list, Python's own words and the names
defined in the files themselves are all that may stand behind a dot. Since a View of ours has methods of the same names as some of a tensor's (flip, expand …), and since
`a + b` looks the same for numbers and for tensors, the text alone proves little: dispatch.py watches what really reaches PyTorch while a kernel runs."""
import ast
import os

TORCH = {"empty", "empty_strided", "Tensor", "Size", "finfo", "result_type", "promote_types", "get_default_dtype", "sparse_coo_tensor", "preserve_format", "contiguous_format",
         "channels_last", "bool", "uint8", "uint64", "int8", "int16", "int32", "int64", "bfloat16", "float32", "float64", "complex64"}
TENSORS = {"shape", "stride", "dim", "numel", "dtype", "device", "type", "data_ptr", "element_size", "storage_offset", "is_contiguous", "untyped_storage", "is_floating_point",
           "as_strided", "set_", "max"}  # max: of finfo
PYTHON = {"append", "insert", "pop", "index", "extend", "join", "items", "values", "encode", "decode", "value", "get", "path", "environ"}
MODULES = {"math": None, "os": {"path", "pardir"}, "sys": {"path"},
           "ctypes": {"Structure", "c_void_p", "c_int32", "c_int64", "c_int", "c_char_p", "c_double", "c_size_t", "POINTER", "CDLL", "byref", "create_string_buffer"}}
OS_PATH = {"join", "dirname", "abspath"}
CTYPES = {"argtypes", "restype", "from_address", "amdahl_aten_call", "amdahl_plan_load", "amdahl_plan_run"}
FORBIDDEN = {"eval", "exec", "compile", "__import__", "getattr", "setattr", "globals", "locals", "vars", "open", "breakpoint", "memoryview"}
PACKAGE = "amdahl_aten"
LIBRARIES = ("libaten.so", "libamdahl-plan.so")


def names_defined(tree):
    """Functions, classes, attributes and slots of the file itself."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id in ("self", "descriptor"):
            found.add(node.attr)
        elif isinstance(node, ast.Assign):
            found.update(t.id for t in node.targets if isinstance(t, ast.Name))
    return found


class Reader(ast.NodeVisitor):
    def __init__(self, known, modules):
        self.known, self.modules, self.faults = known, modules, []

    def fault(self, node, what):
        self.faults.append(f"line {node.lineno}: {what}")

    def visit_Import(self, node):
        for alias in node.names:
            if alias.name not in (*MODULES, "torch") or alias.asname:
                self.fault(node, f"imports {alias.name}{' as ' + alias.asname if alias.asname else ''}")

    def visit_ImportFrom(self, node):
        inside = node.level == 1 and (node.module is None or node.module in self.modules)
        if not inside and not (node.level == 0 and node.module == PACKAGE):
            self.fault(node, f"imports from {node.module}")
        for alias in node.names:
            if alias.name == "*" or alias.asname:
                self.fault(node, "imports under other names")

    def visit_Name(self, node):
        if node.id in FORBIDDEN:
            self.fault(node, f"calls {node.id}")
        elif node.id == "torch" or (node.id in MODULES and node.id != "math"):
            self.fault(node, f"hands {node.id} itself on")

    def visit_Attribute(self, node):
        base = node.value.id if isinstance(node.value, ast.Name) else None
        if base == "torch":
            if node.attr not in TORCH:
                self.fault(node, f"names torch.{node.attr}")
            return
        if base in MODULES:
            if MODULES[base] is not None and node.attr not in MODULES[base]:
                self.fault(node, f"names {base}.{node.attr}")
            return
        if node.attr.startswith("__") or node.attr not in self.known | TENSORS | PYTHON | OS_PATH | CTYPES | self.modules:
            self.fault(node, f"names .{node.attr}")
        if isinstance(node.value, ast.Attribute) and isinstance(node.value.value, ast.Name) and node.value.value.id == "torch" and node.value.attr == "Tensor":
            self.fault(node, f"names torch.Tensor.{node.attr}")
        self.visit(node.value)

    def visit_Call(self, node):
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "CDLL" and not any(library in ast.unparse(node) for library in LIBRARIES):
            self.fault(node, "loads another library")
        self.generic_visit(node)


def faults_of(text, known=frozenset(), modules=frozenset()):
    """Sentences; none: the text is fine. known: names defined in files beside it."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        return [f"line {error.lineno}: is not Python"]
    reader = Reader(set(known) | names_defined(tree), set(modules))
    reader.visit(tree)
    return reader.faults


def package_names(package):
    """All names that its files define."""
    known, modules = set(), set()
    for name in sorted(os.listdir(package)):
        if name.endswith(".py"):
            modules.add(name[:-3])
            with open(os.path.join(package, name)) as file:
                known |= names_defined(ast.parse(file.read()))
    return known, modules


def faults_of_folder(out, folder):
    """Of each file of a folder that BackendBench might load."""
    known, modules = package_names(os.path.join(out, PACKAGE))
    return [f"{name}: {fault}" for name in sorted(os.listdir(os.path.join(out, folder))) if name.endswith(".py")
            for fault in faults_of(read(os.path.join(out, folder, name)), known, modules)]


def faults_of_package(out):
    return [f"{name}: {fault}" for name in sorted(os.listdir(os.path.join(out, PACKAGE))) if name.endswith(".py")
            for fault in faults_of(read(os.path.join(out, PACKAGE, name)), *package_names(os.path.join(out, PACKAGE)))]


def read(path):
    with open(path) as file:
        return file.read()
