"""Values that contain themselves, pickled in every protocol, one in hexadecimal per line."""

import pickle

in_list = []
in_list.append([in_list])

in_dict = {}
in_dict["self"] = [in_dict]

in_tuple = ([],)
in_tuple[0].append(in_tuple)

for value in [in_list, in_dict, in_tuple]:
    for protocol in range(6):
        print(pickle.dumps(value, protocol).hex())
